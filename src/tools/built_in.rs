//! The tools that come with Parlor, as the settings have them.

use std::sync::Arc;

use super::{
    Registry,
    calculate::Calculate,
    current_time::CurrentTime,
    fetch_webpage::FetchWebpage,
    memory::{Forget, Memories, Recall, Remember},
    search_pubmed::SearchPubmed,
    web_search::WebSearch,
};
use crate::{journal::Journal, services::pubmed::PubmedClient, settings::Settings, storage::Storage};

/// All that can be used: what lacks a setting is left out, and what the settings disable.
pub fn built_in(
    settings: &Settings,
    storage: Arc<dyn Storage>,
    journal: Journal,
    pubmed: Option<Arc<PubmedClient>>,
) -> Registry {
    let tools = &settings.tools;
    let web_search = tools.web_search.as_ref().and_then(WebSearch::new);
    let memories = Memories::new(storage, journal, &settings.limits);
    let fetch_webpage = FetchWebpage::new(&tools.fetch_webpage);
    Registry::default()
        .with(CurrentTime)
        .with(Calculate)
        .with_optional(fetch_webpage)
        .with_optional(web_search)
        .with_optional(pubmed.map(SearchPubmed::by))
        .with(Remember(memories.clone()))
        .with(Recall(memories.clone()))
        .with(Forget(memories))
        .without(&tools.disabled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hub::Hub,
        services::pubmed,
        settings::{SearchProvider, Secret, WebSearch},
        storage::sqlite::Sqlite,
    };

    /// The names of the tools that there are with these settings.
    async fn names(change: impl FnOnce(&mut Settings)) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let storage: Arc<dyn Storage> = Arc::new(Sqlite::open(folder.path()).await.expect("a new database"));
        let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
        let mut settings = Settings::default();
        // Not every machine has certificates.
        settings.tools.pubmed.base_url = "http://127.0.0.1:1/eutils".into();
        change(&mut settings);
        let pubmed = pubmed::connect(&settings).ok();
        built_in(&settings, storage, journal, pubmed).offer().names()
    }

    fn brave(key: Option<&str>) -> WebSearch {
        WebSearch {
            provider: SearchProvider::Brave,
            url: Some("http://127.0.0.1:1/search".into()),
            api_key_env: Some("BRAVE".into()),
            api_key: key.map(|key| Secret(key.into())),
        }
    }

    #[tokio::test]
    async fn nothing_searches_the_web_until_somebody_says_who() {
        let all = [
            "current_time",
            "calculate",
            "fetch_webpage",
            "search_pubmed",
            "remember",
            "recall",
            "forget",
        ];
        assert_eq!(names(|_| {}).await, all);
        let without_key = |settings: &mut Settings| settings.tools.web_search = Some(brave(None));
        assert_eq!(names(without_key).await, all);
        let with_key = |settings: &mut Settings| settings.tools.web_search = Some(brave(Some("k")));
        assert!(names(with_key).await.contains(&"web_search".to_owned()));
    }

    #[tokio::test]
    async fn what_is_disabled_is_not_there() {
        let disable = |settings: &mut Settings| {
            settings.tools.pubmed.enabled = false;
            settings.tools.disabled = vec![
                "remember".into(),
                "forget".into(),
                "fetch_webpage".into(),
                "telepathy".into(),
            ];
        };
        assert_eq!(names(disable).await, ["current_time", "calculate", "recall"]);
    }
}
