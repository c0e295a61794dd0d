//! Saved articles and their notes, saved by the user, or by the assistant with approval.

use serde_json::{Value, json};
use upstream::{Page, Script, When};

use super::{
    ABSTRACT_LINES, add_pubmed_pages, call_rpc, last_prompt_and_tools, load_library, pubmed_settings,
    start_parlor,
};
use crate::support::{Parlor, read_json as body, string_field};

#[tokio::test]
async fn approved_save_survives_a_restart() {
    let (folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(
        When::user_contains("Save it"),
        Script::new().tool_call(
            "id0",
            "save_article",
            r#"{"pmid": "11", "note": "Read the methods."}"#,
        ),
    );
    upstream.add_script(When::tool_gave("among the saved"), Script::new().text("Done."));
    let context = json!({ "current_page": "literature", "active_tab": "search", "article_id": "11" });
    let request = json!({ "message": "Save it", "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let asked = stream.next_of_type("approval_requested").await;
    assert_eq!(
        asked["detail"],
        "Tides of the moon (PMID 11). Note: Read the methods."
    );
    stream.next_of_type("waiting").await;
    assert_eq!(load_library(&parlor).await["articles"], json!([]));
    parlor.stop().await;

    let parlor = Parlor::start_built_in(folder.path(), &upstream, pubmed_settings(&upstream)).await;
    let run = string_field(&asked, "message_id");
    let mut log = parlor.follow("/api/events?after=0").await;
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor
        .post(&format!("/api/runs/{run}/approvals"), &allow)
        .send()
        .await
        .unwrap();
    assert!(answered.status().is_success());
    let changed = log.next_of_type("literature_changed").await;
    let saved = &changed["change"]["article_saved"];
    assert_eq!(
        (&saved["article"]["title"], &saved["note"]),
        (&json!("Tides of the moon"), &json!("Read the methods."))
    );
    let ended = log.next_of_type("tool_complete").await;
    assert_eq!(ended["status"], "complete", "{ended}");
    log.next_of_type("complete").await;
    let (_, tools) = last_prompt_and_tools(&upstream);
    assert!(tools.contains(&"save_article".to_owned()), "{tools:?}");
    let kept = load_library(&parlor).await;
    assert_eq!(kept["articles"], json!([saved]));
    assert_eq!(kept["articles"][0]["article"]["doi"], "10.1/tides");
}

#[tokio::test]
async fn removed_article_can_be_restored() {
    let (_folder, upstream, parlor) = start_parlor().await;
    call_rpc(
        &parlor,
        "save_article",
        &json!({ "pmid": "11", "note": "First.", "saved_at": null }),
    )
    .await;
    call_rpc(
        &parlor,
        "set_article_note",
        &json!({ "pmid": "11", "note": "Second.", "replaces": ["First."] }),
    )
    .await;
    let before = load_library(&parlor).await["articles"].clone();
    assert_eq!(before[0]["note"], "Second.");
    // The abstract was fetched.
    parlor.get_json("/rpc/article?pmid=11").await;
    for program in ["esummary", "efetch"] {
        upstream.add_page(format!("/eutils/{program}.fcgi"), Page::text("").status(500));
    }
    for _ in 0..2 {
        call_rpc(&parlor, "remove_article", &json!({ "pmid": "11" })).await;
    }
    assert_eq!(load_library(&parlor).await["articles"], json!([]));
    let back = json!({ "pmid": "11", "note": "Second.", "saved_at": before[0]["saved_at"] });
    call_rpc(&parlor, "save_article", &back).await;
    assert_eq!(load_library(&parlor).await["articles"], before);
    let article = parlor.get_json("/rpc/article?pmid=11").await.1;
    assert_eq!(article["summary"], json!(ABSTRACT_LINES));
}

#[tokio::test]
async fn missing_abstract_is_fetched_on_next_open() {
    let (folder, upstream, parlor) = start_parlor().await;
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    upstream.add_page("/eutils/efetch.fcgi", Page::text("").status(400));
    call_rpc(&parlor, "save_article", &save).await;
    let open = async || body(parlor.get("/rpc/article?pmid=11").send().await.unwrap()).await;
    let opened = open().await;
    assert_eq!(opened["article"]["title"], "Tides of the moon");
    assert!(opened["problem"].is_string(), "{opened}");
    add_pubmed_pages(&upstream);
    let whole = |opened: &Value| (opened["summary"].clone(), opened["problem"].clone());
    assert_eq!(whole(&open().await), (json!(ABSTRACT_LINES), Value::Null));
    upstream.add_page("/eutils/efetch.fcgi", Page::text("").status(400));
    // A restart empties the cache.
    parlor.stop().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, pubmed_settings(&upstream)).await;
    let opened = body(parlor.get("/rpc/article?pmid=11").send().await.unwrap()).await;
    assert_eq!(whole(&opened), (json!(ABSTRACT_LINES), Value::Null));
}

#[tokio::test]
async fn assistant_keeps_the_users_note() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let save = json!({ "pmid": "11", "note": "My own words.", "saved_at": null });
    call_rpc(&parlor, "save_article", &save).await;
    let arguments = r#"{"pmid": "11", "note": "A model's words."}"#;
    upstream.add_script(
        When::user_contains("Save it"),
        Script::new().tool_call("id0", "save_article", arguments),
    );
    upstream.add_script(
        When::tool_gave("saved articles"),
        Script::new().text("It has one."),
    );
    let context = json!({ "current_page": "literature", "article_id": "11" });
    let request = json!({ "message": "Save it", "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let run = string_field(&stream.next_of_type("waiting").await, "message_id");
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
    assert!(answered.send().await.unwrap().status().is_success());
    let given = stream.next_of_type("tool_complete").await["output"].to_string();
    assert!(given.contains("another note, which stays"), "{given}");
    assert_eq!(
        load_library(&parlor).await["articles"][0]["note"],
        "My own words."
    );
}

#[tokio::test]
async fn saves_an_article_while_pubmed_hangs() {
    let (_folder, upstream, parlor) = start_parlor().await;
    parlor
        .get_json("/rpc/search_articles?query=tides&sort=date&page=1")
        .await;
    for program in ["esummary", "efetch"] {
        upstream.add_page(format!("/eutils/{program}.fcgi"), Page::never());
    }
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    call_rpc(&parlor, "save_article", &save).await;
    let kept = load_library(&parlor).await;
    assert_eq!(kept["articles"][0]["article"]["title"], "Tides of the moon");
}

#[tokio::test]
async fn unknown_article_is_not_saved() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_page("/eutils/esummary.fcgi", Page::text("").status(400));
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    let refused = parlor.post("/rpc/save_article", &save).send().await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(load_library(&parlor).await["articles"], json!([]));
}
