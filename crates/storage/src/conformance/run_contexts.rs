//! The data that a run starts with.

use super::*;

pub async fn run_context_has_all_of_its_user(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "Hello");
    commit_one(&*storage, &first.change).await.unwrap();
    let tool = |user_id, tool: &str| Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::AllowTool { tool: tool.into() },
    };
    commit_one(&*storage, &tool(TEST_USER, "look")).await.unwrap();
    let text = "Be brief.".to_owned();
    commit_one(
        &*storage,
        &Change::Personal {
            user_id: TEST_USER,
            change: PersonalChange::SetInstructions { text },
        },
    )
    .await
    .unwrap();
    commit_one(
        &*storage,
        &Change::Personal {
            user_id: TEST_USER,
            change: PersonalChange::SetChatSearch { is_on: true },
        },
    )
    .await
    .unwrap();
    assert!(storage.may_search_chats(TEST_USER).await.unwrap());
    assert!(!storage.may_search_chats(other_user()).await.unwrap());
    let mut second = new_turn(TEST_USER, conversation_id, "And?");
    let snapshot = PageContextSnapshot {
        text: "An article.".into(),
        ..PageContextSnapshot::default()
    };
    if let Change::Intent {
        change: IntentChange::SendMessage { start, .. },
        ..
    } = &mut second.change
    {
        start.context_snapshot = Some(Box::new(snapshot.clone()));
    }
    commit_one(&*storage, &end_run(first.run, "Hi")).await.unwrap();
    commit_one(&*storage, &second.change).await.unwrap();

    let context = storage.run_context(second.run).await.unwrap().unwrap();
    let leads_there: Vec<MessageId> = context.history.iter().map(|message| message.id).collect();
    let expected = [
        first.user_message_id,
        first.run.message_id,
        second.user_message_id,
    ];
    assert_eq!(leads_there, expected);
    assert_eq!(
        context,
        RunContext {
            provider_data: Default::default(),
            answer: AssistantMessage::new("x/m"),
            history: context.history.clone(),
            context_snapshot: Some(snapshot),
            verdicts: Vec::new(),
            instructions: "Be brief.".into(),
            may_search_chats: true,
            is_temporary: false,
            project: None,
            allowed_tools: vec!["look".into()],
            options: RunOptions::default(),
        }
    );
    let theirs = RunKey {
        user_id: other_user(),
        ..second.run
    };
    assert_eq!(
        storage.run_context(theirs).await.unwrap(),
        None,
        "somebody else's"
    );
}

pub async fn payloads_are_limited_by_total_bytes(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let first = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &first.change).await.unwrap();
    let run = first.run;
    for id in ["a", "b", "c"] {
        let payload = Payload {
            payload_id: id.into(),
            kind: "table".into(),
            summary: id.into(),
            data: RawJson::parse_or_quote(&format!("\"{}\"", "x".repeat(98))),
        };
        commit_one(
            &*storage,
            &Change::Output {
                run,
                output: RunOutput::StorePayload { payload },
            },
        )
        .await
        .unwrap();
    }
    let those = async |user_id, bytes| {
        let ids = ["c", "unknown", "b", "a"];
        let found = storage.payloads(user_id, run.conversation_id, &ids, bytes).await;
        let ids = found.unwrap().into_iter().map(|payload| payload.payload_id);
        ids.collect::<Vec<_>>().concat()
    };
    assert_eq!(those(TEST_USER, 1000).await, "cba");
    assert_eq!(those(TEST_USER, 299).await, "cb");
    assert_eq!(
        those(TEST_USER, 1).await,
        "c",
        "the first payload is always returned"
    );
    assert_eq!(those(other_user(), 1000).await, "");
}
