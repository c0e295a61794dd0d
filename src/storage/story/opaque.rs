//! Data that only the providers of models understand.

use super::*;
use crate::protocol::{Json, Opaque, PlacedOpaque};

fn placed(node: usize, part: Option<usize>, value: &str) -> PlacedOpaque {
    PlacedOpaque {
        node,
        part,
        endpoint: "x".into(),
        data: Opaque {
            kind: "openai".into(),
            field: "extra_content".into(),
            value: Json::or_string(value),
        },
    }
}

#[tokio::test]
async fn a_run_begins_with_what_its_branch_was_given() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "Hello");
    // Spelled as no serializer would.
    let odd = r#"{ "b":1.0e2, "a" : "\u00e9" }"#;
    let given = [
        placed(0, Some(1), odd),
        placed(0, None, "[]"),
        placed(1, Some(0), "2"),
    ];
    do_one(&*storage, &first.change).await.unwrap();
    for placed in given.clone() {
        let run = first.run;
        let kept = do_one(&*storage, &Change::KeepOpaque { run, placed }).await;
        assert_eq!(kept, Ok(Outcome::Done));
    }
    let expected = HashMap::from([(first.run.message_id, given.to_vec())]);
    let beginning = storage.beginning(first.run).await.unwrap().unwrap();
    assert_eq!(beginning.opaque, expected, "it can go on");

    do_one(&*storage, &end(first.run, "Hi")).await.unwrap();
    let second = turn(ANN, conversation_id, "And?");
    do_one(&*storage, &second.change).await.unwrap();
    let beginning = storage.beginning(second.run).await.unwrap().unwrap();
    assert_eq!(beginning.opaque, expected, "of earlier turns, too");

    // Another answer to the first question is another branch.
    do_one(&*storage, &end(second.run, "So")).await.unwrap();
    let again = RunKey {
        message_id: MessageId::new(),
        ..first.run
    };
    do_one(&*storage, &regenerate(first.run, again)).await.unwrap();
    let beginning = storage.beginning(again).await.unwrap().unwrap();
    assert_eq!(beginning.opaque, HashMap::new());
}
