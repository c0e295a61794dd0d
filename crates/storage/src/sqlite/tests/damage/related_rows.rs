//! Damaged rows of other tables than messages, and of personal data.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{ChangeRejection, Queues};
use parlor_protocol::{UserEvent, literature};

#[tokio::test]
async fn blobs_in_run_context_are_skipped() {
    let (_folder, storage) = open_storage().await;
    let (_, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    let of = format!("'{}', '{}'", UserId::LOCAL, run.conversation_id);
    drop_constraints(&storage).await;
    execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
    for insert in [
        format!(
            "INSERT INTO payload_verdicts VALUES ({of}, 'sound', X'ff00', 1, NULL), ({of}, X'ff00', 'accepted', 2, NULL)"
        ),
        format!("INSERT INTO allowed_tools VALUES ({of}, 'search'), ({of}, X'ff00')"),
        format!("INSERT INTO summaries VALUES ({of}, X'ff00', 'In short', 1), ({of}, 'none', X'ff00', 1)"),
    ] {
        execute_sql(&storage, insert).await;
    }
    let context = storage.run_context(run).await.unwrap().expect("it begins");
    assert!(context.allowed_tools.contains(&"search".to_owned()));
    assert_eq!(context.options.summaries, []);
    assert!(context.verdicts.len() <= 1, "{:?}", context.verdicts);
}

#[tokio::test]
async fn a_damaged_row_of_a_message_is_isolated() {
    let (_folder, storage) = open_storage().await;
    let (question, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    let (conversation, answer, user) = (run.conversation_id, run.message_id, UserId::LOCAL);
    let of = format!("'{user}', '{conversation}'");
    for insert in [
        format!(
            "INSERT INTO payloads VALUES ({of}, 'sound', '{answer}', 'table', 's', '[1]', 1), ({of}, 'odd', '{answer}', 'table', CAST(X'ff' AS TEXT), '{{', 1)"
        ),
        format!(
            "INSERT INTO payload_verdicts VALUES ({of}, 'sound', 'accepted', 1, '['), ({of}, 'odd', 'perhaps', 2, NULL)"
        ),
        format!("INSERT INTO allowed_tools VALUES ({of}, 'search'), ({of}, CAST(X'ff' AS TEXT))"),
        format!("INSERT INTO summaries VALUES ({of}, '{answer}', 'In short', 1)"),
        format!("INSERT INTO contexts VALUES ('{question}', '{user}', '{{', 'text', '')"),
        format!(
            "INSERT INTO model_calls VALUES ('{answer}', '{}', {of}, '{{', '{{}}'), ('{answer}', 'none', {of}, '{{}}', '{{}}')",
            Uuid::now_v7()
        ),
        format!(
            "INSERT INTO opaque VALUES ('{answer}', 0, {of}, 0, NULL, CAST(X'ff' AS TEXT), 'k', 'f', '1'), \
             ('{answer}', 1, {of}, 0, NULL, 'e', 'k', 'f', '1')"
        ),
        format!(
            "INSERT INTO files VALUES ('{0}', {of}, '{answer}', 0, '{0}', '{conversation}', CAST(X'ff' AS TEXT), 'image/png', 1, NULL, NULL, 1, NULL, NULL, NULL, NULL)",
            Uuid::from_u128(7)
        ),
    ] {
        execute_sql(&storage, insert).await;
    }
    let payloads = storage
        .payloads(user, conversation, &["sound", "odd"], 1000)
        .await
        .unwrap();
    let data: Vec<_> = payloads.iter().map(|payload| payload.data.as_str()).collect();
    assert_eq!(data, ["[1]", "\"{\""]);
    let verdicts = storage.payload_verdicts(user, conversation).await.unwrap();
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
    assert_eq!(load_transcript(&storage, conversation).await.verdicts, verdicts);
    assert_eq!(storage.context_snapshot(user, question).await.unwrap(), None);
    assert_eq!(storage.model_calls(user, answer).await.unwrap().len(), 1);
    let file = storage
        .file(user, AttachmentId(Uuid::from_u128(7)))
        .await
        .unwrap();
    assert_eq!(file.unwrap().attachment.name, "\u{fffd}");
    let run_context = || async { storage.run_context(run).await.unwrap().expect("it begins") };
    let context = run_context().await;
    assert_eq!(context.provider_data[&run.message_id].len(), 1);
    assert_eq!((context.verdicts, context.context_snapshot), (verdicts, None));
    assert!(context.allowed_tools.contains(&"search".to_owned()));
    assert_eq!(context.options.summaries.len(), 1);
    execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
    execute_sql(&storage, "UPDATE summaries SET message_id = 'none'".into()).await;
    assert_eq!(run_context().await.options.summaries, []);
    // An unreadable intent is rejected whenever it is repeated; others are accepted.
    let (again, _) = send_change("Again");
    commit_one(&storage, again.clone()).await;
    let stored = format!("WHERE id = '{}'", intent_id(&again));
    for damage in DAMAGED_JSON.iter().filter(|damage| **damage != "'null'") {
        execute_sql(
            &storage,
            format!("UPDATE intents SET started = {damage} {stored}"),
        )
        .await;
        check_rejected_alone(&storage, &again, damage).await;
        let read = storage.completed_intent(user, intent_id(&again)).await;
        assert!(read.is_err_and(|error| error.is_row_damage()), "{damage}");
    }
    execute_sql(
        &storage,
        format!("UPDATE intents SET started = 'null', fingerprint = CAST(X'ff' AS TEXT) {stored}"),
    )
    .await;
    check_rejected_alone(&storage, &again, "its fingerprint").await;
}

fn intent_id(change: &Change) -> IntentId {
    let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = change
    else {
        unreachable!("it sends")
    };
    intent.intent_id
}

/// Commits a change that can't be applied together with another one.
async fn check_rejected_alone(storage: &SqliteStorage, rejected: &Change, damage: &str) {
    let batch = [rejected.clone(), send_change("Other").0];
    let committed = storage.commit(NOON, &batch).await.unwrap();
    assert!(
        matches!(committed.outcomes[0], Err(ChangeRejection::Damaged(_))),
        "{damage}"
    );
    assert!(committed.outcomes[1].is_ok(), "{damage}");
}

#[tokio::test]
async fn an_unreadable_branch_end_fails_alone() {
    let (_folder, storage) = open_storage().await;
    let (question, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
    let mut id = format!("'{}'", run.message_id);
    for damage in DAMAGED_JSON {
        execute_sql(
            &storage,
            format!("UPDATE messages SET id = {damage} WHERE id = {id}"),
        )
        .await;
        id = (*damage).to_owned();
        let select = Change::Conversation {
            user_id: run.user_id,
            conversation_id: run.conversation_id,
            change: ConversationChange::SelectBranch { through: question },
        };
        check_rejected_alone(&storage, &select, damage).await;
    }
}

#[tokio::test]
async fn a_damaged_personal_row_is_isolated() {
    let (_folder, storage) = open_storage().await;
    answered_turn(&storage, ConversationId::new(), "Hello").await;
    let user = UserId::LOCAL;
    let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
    let hash = |byte: &str| format!("X'{}'", byte.repeat(32));
    for insert in [
        format!(
            "INSERT INTO memories (id, user_id, text, created_at) VALUES ('{first}', '{user}', 'tea', 1), ('none', '{user}', 'damaged', 2)"
        ),
        format!("INSERT INTO instructions VALUES ('{user}', CAST(X'42ff' AS TEXT))"),
        format!(
            "INSERT INTO api_tokens VALUES ('{first}', '{user}', 'sound', {}, 'parlor_1', 1, NULL, NULL), \
             ('none', '{user}', 'damaged', {}, 'parlor_2', 1, NULL, NULL)",
            hash("01"),
            hash("02")
        ),
        format!(
            "INSERT INTO streams (id, user_id, name, query, instructions) VALUES ('{second}', '{user}', 'sound', 'q', ''), ('none', '{user}', 'damaged', 'q', '')"
        ),
        format!(
            "INSERT INTO articles VALUES ('{user}', '1', 'Sound', '[\"Ann\"]', 'J', '2020', NULL, '[\"Text\"]', '', 1), \
             ('{user}', '2', 'Odd', '{{', 'J', '2020', NULL, '{{', '', 2)"
        ),
    ] {
        execute_sql(&storage, insert).await;
    }
    let memories = storage.memories(user).await.unwrap();
    assert_eq!(memories.len(), 1, "{memories:?}");
    assert_eq!(storage.instructions(user).await.unwrap(), "B\u{fffd}");
    assert_eq!(storage.api_tokens(user).await.unwrap().len(), 1);
    assert!(storage.api_token(&TokenHash([1; 32])).await.unwrap().is_some());
    assert_eq!(storage.api_token(&TokenHash([2; 32])).await.unwrap(), None);
    let library = storage.library(user).await.unwrap();
    assert_eq!((library.articles.len(), library.streams.len()), (2, 1));
    let (odd, summary) = storage.saved_article(user, "2").await.unwrap().unwrap();
    assert_eq!((odd.article.authors.len(), summary), (0, None));
    // These changes read the log's entries about literature, one of which may be damaged.
    let note = |pmid: &str, note: &str, before: &str| Change::Library {
        user_id: user,
        update: LibraryUpdate::SetArticleNote {
            pmid: pmid.into(),
            note: note.into(),
            replaces: vec![before.into()],
        },
    };
    commit_one(&storage, note("1", "first", "")).await;
    execute_sql(
        &storage,
        "UPDATE events SET event = '{' WHERE json_extract(event, '$.type') = 'literature_changed'".into(),
    )
    .await;
    commit_one(&storage, note("1", "second", "first")).await;
    let bodies: Vec<_> = read_log(&storage, None)
        .await
        .into_iter()
        .map(|event| event.body)
        .collect();
    let [
        ..,
        EventBody::Placeholder(Placeholder::Empty),
        EventBody::User(UserEvent::LiteratureChanged { change }),
    ] = &bodies[..]
    else {
        panic!("{bodies:?}")
    };
    let change: literature::LibraryChange = serde_json::from_str(change.as_str()).unwrap();
    assert!(matches!(change, literature::LibraryChange::ArticleSaved(saved) if saved.note == "second"));
    let kept = Change::Library {
        user_id: user,
        update: LibraryUpdate::StoreAbstract {
            pmid: "2".into(),
            abstract_text: vec!["Known".into()],
        },
    };
    commit_one(&storage, kept).await;
    let summary = storage.saved_article(user, "2").await.unwrap().unwrap().1;
    assert_eq!(json!(summary), json!(["Known"]));
}

#[tokio::test]
async fn a_damaged_queued_message_is_isolated() {
    let (_folder, storage) = open_storage().await;
    let (_, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    let (user, conversation) = (run.user_id, run.conversation_id);
    let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = send_change("Next").0
    else {
        unreachable!("it sends")
    };
    let sound = serde_json::to_string(&intent.text).unwrap();
    let intent = json!({
        "intent_id": IntentId::new(), "conversation_id": conversation, "user_message_id": intent.user_message_id,
        "text": "Next", "force_tools": [], "interaction": { "type": "text_input" },
    });
    drop_constraints(&storage).await;
    for (place, damage) in DAMAGED_JSON.iter().enumerate() {
        let id = MessageId::new();
        execute_sql(
            &storage,
            format!(
                "INSERT INTO queued_messages VALUES ('{id}', '{user}', '{conversation}', {place}, '{}', 1, {damage})",
                MessageId::new()
            ),
        )
        .await;
    }
    let next = MessageId::new();
    execute_sql(
        &storage,
        format!(
            "INSERT INTO queued_messages VALUES ('{next}', '{user}', '{conversation}', 'odd', '{}', 'odd', '{intent}')",
            MessageId::new()
        ),
    )
    .await;
    let shown = load_transcript(&storage, conversation).await.queue;
    let texts: Vec<_> = shown
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(serde_json::to_string(&texts).unwrap(), format!("[{sound}]"));
    let ready = storage.ready_messages(Queues::All).await.unwrap();
    let [ready] = &ready[..] else {
        panic!("one can be sent: {ready:?}")
    };
    assert_eq!(ready.user_message_id, next);
    commit_one(
        &storage,
        Change::Run(RunChange::SendQueued {
            run: ready.run,
            user_message_id: next,
        }),
    )
    .await;
    let transcript = load_transcript(&storage, conversation).await;
    assert_eq!(
        (transcript.messages.len(), transcript.queue.messages.len()),
        (4, 0)
    );
}

#[tokio::test]
async fn damaged_deletion_time_erases_the_message() {
    let (_folder, storage) = open_storage().await;
    let (question, run) = answered_turn(&storage, ConversationId::new(), "Hello").await;
    let (user_id, conversation_id) = (run.user_id, run.conversation_id);
    let hide = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::DeleteMessage {
            message_id: question,
            hidden_at: NOON,
        },
    };
    commit_one(&storage, hide).await;
    drop_constraints(&storage).await;
    execute_sql(&storage, "UPDATE hidden_messages SET hidden_at = 'odd'".into()).await;
    let hidden = storage.hidden_messages().await.unwrap();
    let [((.., message_id), hidden_at)] = hidden[..] else {
        panic!("it is there: {hidden:?}")
    };
    commit_one(
        &storage,
        Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::EraseMessage {
                message_id,
                hidden_at,
            },
        },
    )
    .await;
    assert_eq!(load_transcript(&storage, conversation_id).await.messages, []);
}
