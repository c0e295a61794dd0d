//! What a person keeps: articles and their notes, by their own hand and by the assistant's, if they allow it.

use serde_json::{Value, json};
use upstream::{Page, Script, When};

use super::{ABSTRACT, asking, last_call, library, parlor, place, rpc};
use crate::support::{Parlor, id, json as body};

#[tokio::test]
async fn an_article_is_saved_when_the_person_allows_it_even_after_a_restart() {
    let (folder, upstream, parlor) = parlor().await;
    upstream.script(
        When::user_contains("Save it"),
        Script::new().tool_call(
            "id0",
            "save_article",
            r#"{"pmid": "11", "note": "Read the methods."}"#,
        ),
    );
    upstream.script(When::tool_gave("among the saved"), Script::new().text("Done."));
    let context = json!({ "current_page": "literature", "active_tab": "search", "article_id": "11" });
    let request = json!({ "message": "Save it", "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let asked = stream.until("approval_requested").await;
    assert_eq!(
        asked["detail"],
        "Tides of the moon (PMID 11). Note: Read the methods."
    );
    stream.until("waiting").await;
    assert_eq!(library(&parlor).await["articles"], json!([]));
    parlor.stop().await;

    let parlor = Parlor::start_built_in(folder.path(), &upstream, asking(&upstream)).await;
    let run = id(&asked, "message_id");
    let mut log = parlor.follow("/api/events?after=0").await;
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor
        .post(&format!("/api/runs/{run}/approvals"), &allow)
        .send()
        .await
        .unwrap();
    assert!(answered.status().is_success());
    let changed = log.until("literature_changed").await;
    let saved = &changed["change"]["article_saved"];
    assert_eq!(
        (&saved["article"]["title"], &saved["note"]),
        (&json!("Tides of the moon"), &json!("Read the methods."))
    );
    let ended = log.until("tool_complete").await;
    assert_eq!(ended["status"], "complete", "{ended}");
    log.until("complete").await;
    let (_, tools) = last_call(&upstream);
    assert!(tools.contains(&"save_article".to_owned()), "{tools:?}");
    let kept = library(&parlor).await;
    assert_eq!(kept["articles"], json!([saved]));
    assert_eq!(kept["articles"][0]["article"]["doi"], "10.1/tides");
}

#[tokio::test]
async fn what_is_removed_can_be_put_back_as_it_was() {
    let (_folder, upstream, parlor) = parlor().await;
    rpc(
        &parlor,
        "save_article",
        &json!({ "pmid": "11", "note": "First.", "saved_at": null }),
    )
    .await;
    rpc(
        &parlor,
        "note_article",
        &json!({ "pmid": "11", "note": "Second.", "replaces": ["First."] }),
    )
    .await;
    let before = library(&parlor).await["articles"].clone();
    assert_eq!(before[0]["note"], "Second.");
    // The abstract is there.
    parlor.get_json("/rpc/article?pmid=11").await;
    for program in ["esummary", "efetch"] {
        upstream.page(format!("/eutils/{program}.fcgi"), Page::text("").status(500));
    }
    for _ in 0..2 {
        rpc(&parlor, "remove_article", &json!({ "pmid": "11" })).await;
    }
    assert_eq!(library(&parlor).await["articles"], json!([]));
    let back = json!({ "pmid": "11", "note": "Second.", "saved_at": before[0]["saved_at"] });
    rpc(&parlor, "save_article", &back).await;
    assert_eq!(library(&parlor).await["articles"], before);
    let article = parlor.get_json("/rpc/article?pmid=11").await.1;
    assert_eq!(article["summary"], json!(ABSTRACT));
}

#[tokio::test]
async fn an_abstract_that_could_not_be_had_comes_when_the_article_is_opened_next() {
    let (folder, upstream, parlor) = parlor().await;
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    upstream.page("/eutils/efetch.fcgi", Page::text("").status(400));
    rpc(&parlor, "save_article", &save).await;
    let open = async || body(parlor.get("/rpc/article?pmid=11").send().await.unwrap()).await;
    let opened = open().await;
    assert_eq!(opened["article"]["title"], "Tides of the moon");
    assert!(opened["problem"].is_string(), "{opened}");
    place(&upstream);
    let whole = |opened: &Value| (opened["summary"].clone(), opened["problem"].clone());
    assert_eq!(whole(&open().await), (json!(ABSTRACT), Value::Null));
    upstream.page("/eutils/efetch.fcgi", Page::text("").status(400));
    // Not from the memory of this process alone.
    parlor.stop().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, asking(&upstream)).await;
    let opened = body(parlor.get("/rpc/article?pmid=11").send().await.unwrap()).await;
    assert_eq!(whole(&opened), (json!(ABSTRACT), Value::Null));
}

#[tokio::test]
async fn the_assistant_leaves_a_note_of_the_person_s_as_it_is() {
    let (_folder, upstream, parlor) = parlor().await;
    let save = json!({ "pmid": "11", "note": "My own words.", "saved_at": null });
    rpc(&parlor, "save_article", &save).await;
    let arguments = r#"{"pmid": "11", "note": "A model's words."}"#;
    upstream.script(
        When::user_contains("Save it"),
        Script::new().tool_call("id0", "save_article", arguments),
    );
    upstream.script(
        When::tool_gave("saved articles"),
        Script::new().text("It has one."),
    );
    let context = json!({ "current_page": "literature", "article_id": "11" });
    let request = json!({ "message": "Save it", "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let run = id(&stream.until("waiting").await, "message_id");
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
    assert!(answered.send().await.unwrap().status().is_success());
    let given = stream.until("tool_complete").await["output"].to_string();
    assert!(given.contains("another note, which stays"), "{given}");
    assert_eq!(library(&parlor).await["articles"][0]["note"], "My own words.");
}

#[tokio::test]
async fn an_article_is_saved_while_pubmed_hangs() {
    let (_folder, upstream, parlor) = parlor().await;
    parlor
        .get_json("/rpc/search_articles?query=tides&sort=date&page=1")
        .await;
    for program in ["esummary", "efetch"] {
        upstream.page(format!("/eutils/{program}.fcgi"), Page::never());
    }
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    rpc(&parlor, "save_article", &save).await;
    let kept = library(&parlor).await;
    assert_eq!(kept["articles"][0]["article"]["title"], "Tides of the moon");
}

#[tokio::test]
async fn an_article_of_which_nothing_is_known_is_not_saved() {
    let (_folder, upstream, parlor) = parlor().await;
    upstream.page("/eutils/esummary.fcgi", Page::text("").status(400));
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    let refused = parlor.post("/rpc/save_article", &save).send().await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(library(&parlor).await["articles"], json!([]));
}
