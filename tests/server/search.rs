//! Full-text search over HTTP.

use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{
    accounts::{Browser, with_passwords},
    support::{Parlor, TEST_TIMEOUT, parlor_answering},
};

/// Returns the kinds of the hits, and the hits.
async fn search(parlor: &Parlor, parameters: &str) -> (Vec<String>, Value) {
    let (status, found) = parlor.get_json(&format!("/api/search?{parameters}")).await;
    assert_eq!(status, 200, "{found}");
    let hits = found["hits"].as_array().unwrap().iter();
    (
        hits.map(|hit| hit["kind"].as_str().unwrap().to_owned()).collect(),
        found,
    )
}

#[tokio::test]
async fn finds_messages_by_their_words() {
    let (_folder, _upstream, parlor) =
        parlor_answering(Script::new().text("It is **Petrichor**, the smell of rain.")).await;
    let events = parlor.turn(None, "What is this smell called?").await;
    let conversation = events[0]["conversation_id"].as_str().unwrap();
    let (kinds, found) = search(&parlor, "q=petri").await;
    assert_eq!(kinds, ["answer"]);
    let hit = &found["hits"][0];
    assert_eq!(hit["conversation_id"], conversation);
    assert_eq!(hit["message_id"], events[0]["expected_assistant_message_id"]);
    assert_eq!(hit["title"], "What is this smell called?");
    let (start, end) = (&hit["snippet"]["marks"][0][0], &hit["snippet"]["marks"][0][1]);
    let (start, end) = (start.as_u64().unwrap() as usize, end.as_u64().unwrap() as usize);
    assert_eq!(&hit["snippet"]["text"].as_str().unwrap()[start..end], "Petrichor");
    assert_eq!(
        search(&parlor, "q=smell&order=newest").await.0,
        ["answer", "title", "question"]
    );
    let (one, page) = search(&parlor, "q=smell&order=newest&limit=1").await;
    let next = page["next"].as_str().unwrap();
    let (rest, _) = search(&parlor, &format!("q=smell&order=newest&cursor={next}")).await;
    assert_eq!((one.len(), rest.len()), (1, 2));
    let here = search(
        &parlor,
        &format!("q=smell&order=newest&conversation_id={conversation}"),
    )
    .await;
    assert_eq!(here.0, ["answer", "title", "question"]);
    let elsewhere = uuid::Uuid::now_v7();
    assert!(
        search(&parlor, &format!("q=smell&conversation_id={elsewhere}"))
            .await
            .0
            .is_empty()
    );
    for wrong in ["", "q=x&limit=0", "q=x&order=oldest", "q=x&conversation_id=1"] {
        assert_eq!(
            parlor.get_json(&format!("/api/search?{wrong}")).await.0,
            400,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn finds_the_text_of_a_sent_file() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Seen.")).await;
    let (_, file) = parlor
        .upload("notes.txt", None, "The eutrophication of lakes.")
        .await;
    let turn = json!({ "message": "Read it", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any" });
    parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(search(&parlor, "q=notes").await.0, ["file"]);
    // Its text is indexed in the background.
    let found = async { while search(&parlor, "q=eutrophication%20file:notes").await.0 != ["file"] {} };
    timeout(TEST_TIMEOUT, found).await.unwrap();
}

#[tokio::test]
async fn users_find_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::default(), Script::new().text("A secret answer."));
    let mut parlor = Parlor::start_built_in(folder.path(), &upstream, with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    parlor.client = ann.signed_in_client();
    parlor.turn(None, "A secret question").await;
    assert_eq!(search(&parlor, "q=secret").await.0.len(), 3);
    parlor.client = ben.signed_in_client();
    assert!(search(&parlor, "q=secret").await.0.is_empty());
    assert!(search(&parlor, "q=from:me").await.0.is_empty());
    parlor.client = reqwest::Client::new();
    assert_eq!(parlor.get_json("/api/search?q=secret").await.0, 401);
}
