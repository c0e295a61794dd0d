use async_trait::async_trait;

use super::*;
use crate::{
    OpenPage,
    literature::{LITERATURE, QUERY_SUGGESTION},
};
use parlor_protocol::literature::LiteratureFields;

struct Nothing;

#[async_trait]
impl Page for Nothing {
    type Fields = LiteratureFields;

    fn definition(&self) -> &'static PageDefinition {
        &LITERATURE
    }

    async fn check(&self, _: UserId, open: &OpenPage<LiteratureFields>) -> Result<(), ContextError> {
        match &open.fields.article_id {
            Some(id) => Err(ContextError::NotFound(format!("There is no {id}."))),
            None => Ok(()),
        }
    }

    async fn describe(
        &self,
        _: UserId,
        _: &OpenPage<LiteratureFields>,
    ) -> Result<BuiltContext, StorageError> {
        Ok(BuiltContext {
            text: "Nothing is open.".into(),
            instructions: "Be quick.".into(),
        })
    }
}

fn pages() -> Pages {
    Pages::new(200).with_page(Nothing)
}

async fn rejection_text(context: PageContext) -> String {
    let looked = pages().snapshot(UserId::LOCAL, Some(&context)).await;
    looked.expect_err("refused").to_string()
}

#[tokio::test]
async fn snapshot_keeps_context_and_text() {
    let context = PageContext {
        active_tab: Some("saved".into()),
        ..PageContext::for_page("literature")
    };
    let looking = pages().snapshot(UserId::LOCAL, Some(&context)).await.unwrap();
    let here = pages().resolve(Some(&context));
    assert!(here.tools.contains(&"list_saved_articles"));
    let built = pages().describe(UserId::LOCAL, &context).await.unwrap();
    let expected = BuiltContext {
        text: "Nothing is open.".into(),
        instructions: "Be quick.".into(),
    };
    assert_eq!(built, Some(expected));
    let looking_at = PageContextSnapshot {
        context,
        ..PageContextSnapshot::default()
    };
    assert_eq!(looking, Some(looking_at));
    assert_eq!(pages().snapshot(UserId::LOCAL, None).await.unwrap(), None);
}

#[tokio::test]
async fn unknown_place_error_lists_known_places() {
    let of = PageContext::for_page;
    let tab = |page: &str, tab: &str| PageContext {
        active_tab: Some(tab.into()),
        ..of(page)
    };
    let subtab = PageContext {
        active_subtab: Some("left".into()),
        ..tab("literature", "saved")
    };
    let fields = LiteratureFields {
        article_id: Some("11".into()),
        ..LiteratureFields::default()
    };
    let article = PageContext::with_fields(None, &fields);
    for (context, words) in [
        (
            of("reports"),
            "There is no page “reports”. The pages are: chat, literature.",
        ),
        (
            tab("literature", "top"),
            "The page literature has no tab “top”. Its tabs are: search, saved.",
        ),
        (
            tab("chat", "top"),
            "The page chat has no tab “top”. Its tabs are: none.",
        ),
        (
            subtab,
            "The tab saved has no subtab “left”. Its subtabs are: article.",
        ),
        (
            PageContext {
                active_subtab: Some("left".into()),
                ..of("literature")
            },
            "The tab search has no subtab “left”. Its subtabs are: article.",
        ),
        (article, "There is no 11."),
    ] {
        assert_eq!(rejection_text(context).await, words);
    }
    let long = rejection_text(of(&"x".repeat(300))).await;
    assert!(long.contains("limits.context_bytes"), "{long}");
}

#[test]
fn payload_types_include_those_of_tabs() {
    let types: Vec<&str> = pages()
        .payload_types()
        .iter()
        .map(|config| config.payload_type)
        .collect();
    assert!(types.starts_with(&["text_document"]), "{types:?}");
    assert!(types.contains(&QUERY_SUGGESTION.payload_type), "{types:?}");
}

#[test]
fn removed_page_resolves_to_chat() {
    let here = pages().resolve(Some(&PageContext::for_page("reports")));
    assert_eq!((here.page.info.name, here.tools.len()), ("chat", 0));
}
