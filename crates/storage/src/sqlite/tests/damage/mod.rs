//! Unreadable rows: each affects only itself.

use super::*;
use parlor_protocol::{Event, EventBody, MessageBody, Placeholder, RunError, RunStatus, ToolStatus};

mod accounts;
mod links;
mod numbers;
mod related_rows;
mod shares;
pub(crate) mod tables;
mod users;

/// Values that are stored in place of valid JSON.
const DAMAGED_JSON: &[&str] = &[
    "''",
    "'null'",
    "'{'",
    "'{}'",
    "'[1]'",
    "CAST(X'7bff' AS TEXT)",
    "CAST(X'00' AS TEXT)",
];

async fn open_storage() -> (tempfile::TempDir, SqliteStorage) {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    (folder, storage)
}

/// Removes the tables' constraints, so that any column takes any value.
async fn drop_constraints(storage: &SqliteStorage) {
    for sql in [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT, ', ') ') WHERE type = 'table'",
        "PRAGMA schema_version = 1000",
        "PRAGMA writable_schema = RESET",
    ] {
        execute_sql(storage, sql.into()).await;
    }
}

async fn commit_one(storage: &SqliteStorage, change: Change) {
    let committed = storage.commit(NOON, &[change]).await.unwrap();
    assert!(committed.outcomes[0].is_ok(), "{committed:?}");
}

/// Commits an answered turn and returns its question and its run.
async fn answered_turn(
    storage: &SqliteStorage,
    conversation_id: ConversationId,
    text: &str,
) -> (MessageId, RunKey) {
    let (mut change, mut run) = send_change(text);
    run.conversation_id = conversation_id;
    let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut change
    else {
        unreachable!("it sends")
    };
    intent.conversation_id = conversation_id;
    let question = intent.user_message_id;
    commit_one(storage, change).await;
    let mut message = AssistantMessage::new("x/m");
    let delta = RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset: 0,
        text: "Answer.".into(),
    };
    let ended = RunEvent::Complete {
        finish_reason: None,
        is_quiet: false,
        ended_at: NOON,
        worked_ms: 1,
    };
    for event in [&delta, &ended] {
        parlor_protocol::transcript::apply_to_run(&mut message, event);
    }
    let events = vec![delta, ended];
    commit_one(
        storage,
        Change::Output {
            run,
            output: RunOutput::EndRun { events, message },
        },
    )
    .await;
    (question, run)
}

async fn read_log(storage: &SqliteStorage, run: Option<MessageId>) -> Vec<Event> {
    match storage
        .events_after(UserId::LOCAL, Position(0), run, 1000)
        .await
        .unwrap()
    {
        LogPage::Events { events, .. } => events
            .into_iter()
            .map(|logged| {
                assert_eq!(serde_json::from_str::<Event>(&logged.json).unwrap(), logged.event);
                logged.event
            })
            .collect(),
        LogPage::Reset => panic!("the log is complete"),
    }
}

async fn load_transcript(storage: &SqliteStorage, conversation_id: ConversationId) -> Transcript {
    let transcript = storage.transcript(UserId::LOCAL, conversation_id, PageSize::UNLIMITED, None);
    transcript.await.unwrap().expect("it is there")
}

#[tokio::test]
async fn a_damaged_event_is_isolated() {
    let (_folder, storage) = open_storage().await;
    let (_, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    answered_turn(&storage, ConversationId::new(), "Another").await;
    let sound = read_log(&storage, None).await;
    let index = sound
        .iter()
        .position(|event| matches!(event.body, EventBody::Run(RunEvent::TextDelta { .. })))
        .unwrap();
    let of_another = format!("'{}'", serde_json::to_string(&sound[0]).unwrap());
    for damage in DAMAGED_JSON.iter().copied().chain([&*of_another]) {
        execute_sql(
            &storage,
            format!(
                "UPDATE events SET event = {damage} WHERE position = {}",
                index + 1
            ),
        )
        .await;
        let mut expected = sound.clone();
        expected[index].body = Placeholder::Damaged.into();
        assert_eq!(read_log(&storage, None).await, expected, "{damage}");
        expected.retain(|event| event.message_id == Some(run.message_id));
        assert_eq!(
            read_log(&storage, Some(run.message_id)).await,
            expected,
            "{damage}"
        );
    }
    // The answer is stored elsewhere.
    let answer = load_transcript(&storage, run.conversation_id)
        .await
        .messages
        .remove(1);
    assert_eq!(answer.assistant().unwrap().text(), "Answer.");
}

#[tokio::test]
async fn shows_damaged_messages_as_damaged() {
    let (_folder, storage) = open_storage().await;
    let conversation_id = ConversationId::new();
    let (question, first) = answered_turn(&storage, conversation_id, "Hello").await;
    answered_turn(&storage, conversation_id, "And?").await;
    let sound = load_transcript(&storage, conversation_id).await;
    for damage in DAMAGED_JSON {
        execute_sql(
            &storage,
            format!(
                "UPDATE messages SET body = {damage} WHERE id IN ('{question}', '{}')",
                first.message_id
            ),
        )
        .await;
        let mut expected = sound.clone();
        expected.messages[0].body = MessageBody::Damaged;
        let answer = AssistantMessage::damaged(first.message_id, RunStatus::Complete);
        expected.messages[1].body = MessageBody::Assistant(answer);
        assert_eq!(
            load_transcript(&storage, conversation_id).await,
            expected,
            "{damage}"
        );
        let older = storage.older_messages(
            UserId::LOCAL,
            conversation_id,
            expected.messages[2].id,
            PageSize::UNLIMITED,
        );
        assert_eq!(older.await.unwrap().unwrap().messages, expected.messages[..2]);
        for message in &expected.messages[..2] {
            let found = storage.message(UserId::LOCAL, message.id).await.unwrap();
            assert_eq!(found.as_ref(), Some(&(conversation_id, message.clone())));
        }
    }
    // The conversation continues with its damaged parts.
    let (_, third) = answered_turn(&storage, conversation_id, "Go on").await;
    let context = storage.run_context(third).await.unwrap().expect("it is there");
    assert_eq!(context.history.len(), 5);
    let user_id = UserId::LOCAL;
    commit_one(
        &storage,
        Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::Delete,
        },
    )
    .await;
    assert_eq!(storage.message(UserId::LOCAL, question).await.unwrap(), None);
}

#[tokio::test]
async fn a_run_keeps_its_undamaged_events() {
    let (_folder, storage) = open_storage().await;
    let (change, run) = send_change("Hello");
    commit_one(&storage, change).await;
    let text = |part, offset, text: &str| RunEvent::TextDelta {
        node: 0,
        part,
        offset,
        text: text.into(),
    };
    let events = vec![text(0, 0, "one"), text(0, 3, " two"), text(0, 7, " three")];
    commit_one(
        &storage,
        Change::Output {
            run,
            output: RunOutput::AppendEvents { events },
        },
    )
    .await;
    let head = storage.last_position(UserId::LOCAL).await.unwrap().0;
    execute_sql(
        &storage,
        format!("UPDATE events SET event = '{{' WHERE position = {}", head - 1),
    )
    .await;
    let found = storage.message(UserId::LOCAL, run.message_id).await.unwrap();
    let answer = found.unwrap().1.assistant().unwrap().clone();
    assert_eq!((&*answer.text(), answer.is_damaged()), ("one", true));
    assert_eq!(answer.status, RunStatus::Running);
}

/// Data as an earlier version wrote it and could not read it again.
#[tokio::test]
async fn null_in_stored_json_can_be_read() {
    let (_folder, storage) = open_storage().await;
    let (question, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    let position = read_log(&storage, None).await.len() - 1;
    let call = r#""node":0,"part":0,"index":0,"tool_use_id":"call_1","tool":"current_time","input":null,"label":"Checking the time""#;
    let event = format!(
        r#"{{"position":{position},"conversation_id":"{}","message_id":"{}","type":"tool_start",{call},"detail":null,"started_at":1}}"#,
        run.conversation_id, run.message_id
    );
    execute_sql(
        &storage,
        format!("UPDATE events SET event = '{event}' WHERE position = {position}"),
    )
    .await;
    let body = r#"{"role":"assistant","model":"x/m","status":"complete","nodes":[{"parts":[{"type":"tool_call","tool_use_id":"call_1","index":0,"tool":"current_time","input":null,"label":"Checked the time","status":"complete","output":"12:00","attachments":[],"started_at":1,"ended_at":2}]},{"parts":[{"type":"text","text":"Noon."}]}],"ended_at":2}"#;
    let body = body.replace(r#""attachments":[],"#, "");
    execute_sql(
        &storage,
        format!(
            "UPDATE messages SET body = '{body}' WHERE id = '{}'",
            run.message_id
        ),
    )
    .await;
    let events = read_log(&storage, None).await;
    let EventBody::Run(RunEvent::ToolStart { call, .. }) = &events[position - 1].body else {
        panic!("{events:?}")
    };
    assert_eq!(call.input.as_str(), "null");
    let transcript = load_transcript(&storage, run.conversation_id).await;
    assert_eq!(transcript.messages[0].id, question);
    let answer = transcript.messages[1].assistant().unwrap();
    let call = answer.tool_calls().next().unwrap();
    assert_eq!((call.input.as_str(), call.status), ("null", ToolStatus::Complete));
    assert_eq!(answer.text(), "Noon.");
}

#[tokio::test]
async fn a_damaged_conversation_keeps_its_undamaged_parts() {
    let (_folder, storage) = open_storage().await;
    let (damaged, sound) = (ConversationId::new(), ConversationId::new());
    answered_turn(&storage, damaged, "Hello").await;
    let (_, last) = answered_turn(&storage, damaged, "Once more").await;
    answered_turn(&storage, sound, "Sound").await;
    let named = format!("WHERE id = '{damaged}'");
    for damage in DAMAGED_JSON {
        execute_sql(
            &storage,
            format!("UPDATE conversations SET parameters = {damage} {named}"),
        )
        .await;
        assert_eq!(
            load_transcript(&storage, damaged).await.parameters,
            Parameters::default(),
            "{damage}"
        );
        let parameters = storage.parameters(UserId::LOCAL, damaged).await.unwrap();
        assert_eq!(parameters, Some(Parameters::default()));
        assert!(storage.run_context(last).await.unwrap().is_some());
    }
    execute_sql(
        &storage,
        format!("UPDATE conversations SET active_leaf = 'none', title = CAST(X'41ff' AS TEXT) {named}"),
    )
    .await;
    let transcript = load_transcript(&storage, damaged).await;
    assert_eq!(
        (transcript.active_leaf, &*transcript.title),
        (Some(last.message_id), "A\u{fffd}")
    );
    assert_eq!(transcript.messages.len(), 4);
    let (_, next) = answered_turn(&storage, damaged, "And now?").await;
    assert_eq!(load_transcript(&storage, damaged).await.shown_branch().len(), 6);
    // A run with an unreadable status is not active.
    execute_sql(
        &storage,
        format!(
            "UPDATE runs SET status = 'odd', force_tools = '{{' WHERE id = '{}'",
            next.message_id
        ),
    )
    .await;
    let run = storage
        .run(UserId::LOCAL, next.message_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(run.status, RunStatus::Interrupted);
    assert!(storage.run_context(next).await.unwrap().is_some());
    assert_eq!(storage.running_runs().await.unwrap(), []);
    // Its message still names it as active: the conversation must accept new messages.
    execute_sql(
        &storage,
        format!("DELETE FROM events WHERE message_id = '{}'", next.message_id),
    )
    .await;
    let body = serde_json::to_string(&MessageBody::Assistant(AssistantMessage::new("x/m"))).unwrap();
    execute_sql(
        &storage,
        format!(
            "UPDATE messages SET body = '{body}' WHERE id = '{}'",
            next.message_id
        ),
    )
    .await;
    let transcript = load_transcript(&storage, damaged).await;
    assert_eq!(transcript.active_run(), None);
    assert!(transcript.messages[5].assistant().unwrap().is_damaged());
    // A row without a readable id is skipped.
    execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
    execute_sql(&storage, format!("UPDATE conversations SET id = 'none' {named}")).await;
    let list = storage.conversations(UserId::LOCAL, None, 10).await.unwrap();
    let ids: Vec<_> = list
        .conversations
        .iter()
        .map(|conversation| conversation.id)
        .collect();
    assert_eq!(ids, [sound]);
}
