//! Streams of live shares.

use reqwest::Client;
use serde_json::json;
use upstream::{Script, When};

use super::{Share, SharedStream, read_shared};
use crate::support::{Parlor, parlor_answering, string_field};

#[tokio::test]
async fn an_answer_streams_to_every_reader() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let reader = Client::new();
    let mut streams = [
        share.follow(&parlor, &reader).await,
        share.follow(&parlor, &reader).await,
    ];
    for stream in &mut streams {
        let opening = stream.next().await.expect("the state");
        assert_eq!(
            opening["state"]["transcript"]["messages"][1]["nodes"][0]["parts"][0]["text"],
            "Yes."
        );
    }
    let script = Script::new().text("On ").gate("half").text("and on.");
    upstream.add_script(When::user_contains("More"), script);
    let turn = json!({ "message": "More", "conversation_id": conversation, "model": "test/any" });
    let own = parlor.chat(&turn).await;
    for stream in &mut streams {
        let frames = stream.until("text_delta").await;
        let kinds: Vec<_> = frames
            .iter()
            .map(|frame| frame["event"]["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            ["user_message_saved", "run_started", "status", "text_delta"]
        );
        assert_eq!(frames[0]["event"]["text"], "More");
    }
    // Another conversation of the owner's is none of theirs.
    parlor.turn(None, "Elsewhere").await;
    upstream.open_gate("half");
    own.read_to_end().await;
    for stream in &mut streams {
        let frames = stream.until("complete").await;
        assert!(
            frames
                .iter()
                .all(|frame| frame["event"]["conversation_id"] == *conversation)
        );
        // A space at the end of a delta is held until more follows.
        assert_eq!(frames[0]["event"]["text"], " and on.");
    }
    share.end(&parlor).await;
    for stream in &mut streams {
        stream.expect_end().await;
    }
    assert_eq!(read_shared(&parlor, &reader, share.key()).await.0, 404);
}

#[tokio::test]
async fn another_branch_replaces_the_state() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("First.")).await;
    let turn = parlor.turn(None, "Hello").await;
    let conversation = string_field(&turn[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let snapshot = Share::create(&parlor, &conversation, None, false).await;
    let reader = Client::new();
    let mut stream = share.follow(&parlor, &reader).await;
    stream.next().await.expect("the state");
    upstream.add_script(When::any(), Script::new().text("Second."));
    parlor.regenerate(&turn).await;
    let state = stream.next().await.expect("a state");
    let messages = state["state"]["transcript"]["messages"]
        .as_array()
        .expect("messages");
    assert_eq!(messages.len(), 2, "the other answer is not there: {state}");
    assert!(!state.to_string().contains("First."));
    let texts =
        |value: serde_json::Value| value["transcript"]["messages"][1]["nodes"][0]["parts"][0]["text"].clone();
    let (_, now) = read_shared(&parlor, &reader, share.key()).await;
    let (_, then) = read_shared(&parlor, &reader, snapshot.key()).await;
    assert_eq!((texts(now), texts(then)), (json!("Second."), json!("First.")));
}

#[tokio::test]
async fn deleting_the_conversation_ends_the_stream() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let reader = Client::new();
    let mut stream = share.follow(&parlor, &reader).await;
    stream.next().await.expect("the state");
    let delete = json!({ "conversation_id": conversation });
    let deleted = parlor
        .post("/rpc/delete_conversation", &delete)
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 200);
    stream.expect_end().await;
    assert_eq!(read_shared(&parlor, &reader, share.key()).await.0, 404);
}

#[tokio::test]
async fn places_of_watchers_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = upstream::Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| settings.sharing.watchers = 1).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let snapshot = Share::create(&parlor, &conversation, None, false).await;
    let reader = Client::new();
    let first = share.follow(&parlor, &reader).await;
    let events = |share: &Share| reader.get(format!("{}{}/events", parlor.url, share.path)).send();
    assert_eq!(events(&share).await.unwrap().status(), 429);
    assert_eq!(events(&snapshot).await.unwrap().status(), 404, "nothing comes");
    drop(first);
    parlor.wait_for_listeners(0).await;
    let request = reader.get(format!("{}{}/events", parlor.url, share.path));
    SharedStream::open(request).await.next().await.expect("the state");
}
