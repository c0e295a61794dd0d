//! What a run begins with.

use super::*;
use crate::protocol::Json;

#[tokio::test]
async fn a_run_begins_with_all_that_is_its_users() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "Hello");
    do_one(&*storage, &first.change).await.unwrap();
    let tool = |user_id, tool: &str| Change::AllowTool {
        user_id,
        conversation_id,
        tool: tool.into(),
    };
    do_one(&*storage, &tool(ANN, "look")).await.unwrap();
    let text = "Be brief.".to_owned();
    do_one(&*storage, &Change::SetInstructions { user_id: ANN, text })
        .await
        .unwrap();
    let mut second = turn(ANN, conversation_id, "And?");
    let looking = Looking {
        text: "An article.".into(),
        ..Looking::default()
    };
    if let Change::Send { start, .. } = &mut second.change {
        start.looking = Some(Box::new(looking.clone()));
    }
    do_one(&*storage, &end(first.run, "Hi")).await.unwrap();
    do_one(&*storage, &second.change).await.unwrap();

    let beginning = storage.beginning(second.run).await.unwrap().unwrap();
    let leads_there: Vec<MessageId> = beginning.history.iter().map(|message| message.id).collect();
    let expected = [
        first.user_message_id,
        first.run.message_id,
        second.user_message_id,
    ];
    assert_eq!(leads_there, expected);
    assert_eq!(
        beginning,
        Beginning {
            opaque: Default::default(),
            answer: AssistantMessage::started("x/m"),
            history: beginning.history.clone(),
            looking: Some(looking),
            verdicts: Vec::new(),
            instructions: "Be brief.".into(),
            allowed_tools: vec!["look".into()],
            terms: Terms::default(),
        }
    );
    let theirs = RunKey {
        user_id: bob(),
        ..second.run
    };
    assert_eq!(storage.beginning(theirs).await.unwrap(), None, "somebody else's");
}

#[tokio::test]
async fn of_many_payloads_there_are_as_many_as_there_is_room_for() {
    let (_folder, storage) = sqlite().await;
    let first = turn(ANN, ConversationId::new(), "Hello");
    do_one(&*storage, &first.change).await.unwrap();
    let run = first.run;
    for id in ["a", "b", "c"] {
        let payload = Payload {
            payload_id: id.into(),
            kind: "table".into(),
            summary: id.into(),
            data: Json::or_string(&format!("\"{}\"", "x".repeat(98))),
        };
        do_one(&*storage, &Change::Keep { run, payload }).await.unwrap();
    }
    let those = async |user_id, bytes| {
        let ids = ["c", "unknown", "b", "a"];
        let found = storage.payloads(user_id, run.conversation_id, &ids, bytes).await;
        let ids = found.unwrap().into_iter().map(|payload| payload.payload_id);
        ids.collect::<Vec<_>>().concat()
    };
    assert_eq!(those(ANN, 1000).await, "cba");
    assert_eq!(those(ANN, 299).await, "cb");
    assert_eq!(those(ANN, 1).await, "c", "the first is always there");
    assert_eq!(those(bob(), 1000).await, "");
}
