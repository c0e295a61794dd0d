//! Branches as new conversations: copies with all that belongs to them.

use super::*;
use parlor_protocol::Verdict;

fn branch(message_id: MessageId) -> (Change, ConversationId) {
    let conversation_id = ConversationId::new();
    let intent = intent::BranchConversation {
        intent_id: IntentId::new(),
        message_id,
        conversation_id,
    };
    let change = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::BranchConversation {
            intent,
            fingerprint: message_id.to_string(),
        },
    };
    (change, conversation_id)
}

/// Returns the change that ends a run after a tool has made a file.
fn end_with_tool(run: RunKey, payload: Option<PayloadRef>, file: &StoredFile) -> Change {
    let [start, complete] = draw_events(payload, file);
    let events = vec![
        start,
        complete,
        RunEvent::run_ended(RunStatus::Complete, None, NOON, 0),
    ];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    Change::Output {
        run,
        output: RunOutput::EndRun { events, message },
    }
}

/// Returns the files that an answer shows.
fn shown_files(message: &Message) -> Vec<AttachmentId> {
    message.files().iter().map(|file| file.id).collect()
}

/// Commits a turn whose answer has a payload and a file.
async fn drawn_turn(storage: &dyn Storage, conversation_id: ConversationId) -> (TestTurn, StoredFile) {
    let turn = new_turn(TEST_USER, conversation_id, "Draw it");
    commit_one(storage, &turn.change).await.unwrap();
    let run = turn.run;
    let file = files::image_file(TEST_USER, conversation_id);
    let payload = Payload {
        payload_id: "chart".into(),
        kind: "table".into(),
        summary: "A chart".into(),
        data: RawJson::parse_or_quote(&format!(r#"{{"stored":{{"file":"{}"}}}}"#, file.attachment.id)),
    };
    let end = end_with_tool(run, Some(payload.to_ref()), &file);
    let (attachment, verdict) = (file.clone(), Verdict::Accepted);
    let judge = intent::JudgePayload {
        intent_id: IntentId::new(),
        conversation_id,
        payload_id: payload.payload_id.clone(),
        verdict,
        accepted_fields: vec!["name".into()],
    };
    for change in [
        Change::Output {
            run,
            output: RunOutput::StorePayload { payload },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment { attachment },
        },
        end,
        Change::Intent {
            user_id: TEST_USER,
            change: IntentChange::JudgePayload {
                intent: judge,
                fingerprint: String::new(),
            },
        },
    ] {
        commit_one(storage, &change).await.unwrap();
    }
    (turn, file)
}

pub async fn a_branch_is_a_copy_of_its_own(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let source = ConversationId::new();
    let (first, file) = drawn_turn(&*storage, source).await;
    let second = new_turn(TEST_USER, source, "And then?");
    for change in [&second.change, &end_run(second.run, "That")] {
        commit_one(&*storage, change).await.unwrap();
    }
    let original = full_transcript(&*storage, source).await.unwrap();

    let (change, copy) = branch(first.run.message_id);
    commit_one(&*storage, &change).await.unwrap();
    assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done), "once");
    let copied = full_transcript(&*storage, copy).await.unwrap();
    assert_eq!(copied.title, "Draw it (branch)");
    assert_eq!(
        (&copied.model, &copied.verdicts),
        (&original.model, &original.verdicts)
    );
    let [question, answer] = &copied.messages[..] else {
        panic!("{:?}", copied.messages)
    };
    assert_eq!(
        (question.parent_id, answer.parent_id, copied.active_leaf),
        (None, Some(question.id), Some(answer.id))
    );
    assert_eq!(question.body, original.messages[0].body);
    let copied_file = shown_files(answer)[0];
    assert_ne!(copied_file, file.attachment.id);
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    assert_eq!(list.conversations[0].id, copy);

    // It outlives its source, and can be continued.
    commit_one(
        &*storage,
        &Change::Conversation {
            user_id: TEST_USER,
            conversation_id: source,
            change: ConversationChange::Delete,
        },
    )
    .await
    .unwrap();
    let kept = storage.file(TEST_USER, copied_file).await.unwrap();
    assert_eq!(
        kept.map(|kept| kept.location),
        Some(file.location),
        "it shares the content"
    );
    assert_eq!(storage.deleted_files().await.unwrap(), []);
    let payload = storage.payload(TEST_USER, copy, "chart").await.unwrap();
    let payload = payload.unwrap();
    assert_eq!(payload.summary, "A chart");
    let named = format!(r#"{{"stored":{{"file":"{copied_file}"}}}}"#);
    assert_eq!(payload.data.as_str(), named, "it names the copied file");
    let next = new_turn(TEST_USER, copy, "Go on");
    commit_one(&*storage, &next.change).await.unwrap();
    let texts = full_transcript(&*storage, copy).await.unwrap();
    assert_eq!(
        texts.message(next.user_message_id).unwrap().parent_id,
        Some(answer.id)
    );
    let run = storage.run(TEST_USER, answer.id).await.unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Complete);
    assert!(run.last_position < Some(run.first_position), "it has no events");
}

pub async fn a_file_shown_again_is_the_copied_one(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let source = ConversationId::new();
    let (_, file) = drawn_turn(&*storage, source).await;
    let again = new_turn(TEST_USER, source, "Look again");
    let end = end_with_tool(again.run, None, &file);
    for change in [&again.change, &end] {
        commit_one(&*storage, change).await.unwrap();
    }
    let (change, copy) = branch(again.run.message_id);
    commit_one(&*storage, &change).await.unwrap();
    let shown = |transcript: &Transcript| -> Vec<_> {
        let messages = transcript.messages.iter();
        messages.flat_map(shown_files).collect()
    };
    let copied = shown(&full_transcript(&*storage, copy).await.unwrap());
    let [first, second] = copied[..] else {
        panic!("{copied:?}")
    };
    assert_eq!(first, second);
    assert!(storage.file(TEST_USER, first).await.unwrap().is_some());
    let original = full_transcript(&*storage, source).await.unwrap();
    assert_eq!(shown(&original), [file.attachment.id; 2]);
}

pub async fn a_question_is_where_its_branch_ends(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let source = ConversationId::new();
    let (first, second) = (
        new_turn(TEST_USER, source, "One"),
        new_turn(TEST_USER, source, "Two"),
    );
    for change in [
        &first.change,
        &end_run(first.run, "1"),
        &second.change,
        &end_run(second.run, "2"),
    ] {
        commit_one(&*storage, change).await.unwrap();
    }
    let original = full_transcript(&*storage, source).await.unwrap();
    for (message, count) in [(first.user_message_id, 0), (second.user_message_id, 2)] {
        let (change, copy) = branch(message);
        commit_one(&*storage, &change).await.unwrap();
        let copied = full_transcript(&*storage, copy).await.unwrap();
        let bodies = |messages: &[Message]| -> Vec<_> {
            messages.iter().map(|message| message.body.clone()).collect()
        };
        assert_eq!(bodies(&copied.messages), bodies(&original.messages[..count]));
    }
}

pub async fn only_ended_shown_messages_are_copied(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let source = ConversationId::new();
    let turn = new_turn(TEST_USER, source, "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    let answer = turn.run.message_id;
    let (change, copy) = branch(answer);
    assert_eq!(
        commit_one(&*storage, &change).await,
        Err(ChangeRejection::RunActive)
    );
    commit_one(&*storage, &end_run(turn.run, "Hi")).await.unwrap();
    let foreign = match change.clone() {
        Change::Intent {
            change: IntentChange::BranchConversation {
                intent, fingerprint, ..
            },
            ..
        } => Change::Intent {
            user_id: other_user(),
            change: IntentChange::BranchConversation { intent, fingerprint },
        },
        change => change,
    };
    let hide = deletion::hide(source, turn.user_message_id);
    for (before, change) in [(None, foreign), (Some(hide), change)] {
        if let Some(before) = before {
            commit_one(&*storage, &before).await.unwrap();
        }
        assert_eq!(
            commit_one(&*storage, &change).await,
            Err(ChangeRejection::NotFound)
        );
    }
    assert_eq!(full_transcript(&*storage, copy).await, None);
}
