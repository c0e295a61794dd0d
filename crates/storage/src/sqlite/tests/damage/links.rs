//! Damaged links between messages: each costs at most its own message.

use super::*;

/// Values of ids. The last one is another message's id that does not exist.
const DAMAGED_IDS: &[&str] = &[
    "''",
    "'none'",
    "CAST(X'7bff' AS TEXT)",
    "'01890000-0000-7000-8000-000000000000'",
];

/// Creates a conversation of three answered turns.
async fn three_turns(storage: &SqliteStorage) -> (ConversationId, Transcript) {
    let conversation_id = ConversationId::new();
    for text in ["One", "Two", "Three"] {
        answered_turn(storage, conversation_id, text).await;
    }
    execute_sql(storage, "PRAGMA foreign_keys = OFF".into()).await;
    (conversation_id, load_transcript(storage, conversation_id).await)
}

/// Returns a message as it is shown if its place is uncertain.
fn marked(message: &Message) -> Message {
    let mut message = message.clone();
    if let MessageBody::Assistant(answer) = &mut message.body {
        answer.error = Some(RunError::damaged(message.id));
    }
    message
}

async fn older(storage: &SqliteStorage, conversation_id: ConversationId, before: MessageId) -> Vec<Message> {
    let older = storage.older_messages(UserId::LOCAL, conversation_id, before, PageSize::UNLIMITED);
    older.await.unwrap().unwrap().messages
}

#[tokio::test]
async fn a_damaged_parent_hides_no_message() {
    let (_folder, storage) = open_storage().await;
    let (foreign, _) = answered_turn(&storage, ConversationId::new(), "Elsewhere").await;
    let (conversation_id, sound) = three_turns(&storage).await;
    let later = sound.messages[5].id.to_string();
    for index in 1..6 {
        let damaged = &sound.messages[index];
        // Its own id, and that of a later message, would make a circle. The last one is in another conversation.
        let wrong = [
            format!("'{}'", damaged.id),
            format!("'{later}'"),
            format!("'{foreign}'"),
        ];
        for parent in DAMAGED_IDS
            .iter()
            .copied()
            .chain(wrong.iter().map(String::as_str))
        {
            let set = async |parent: &str| {
                let sql = format!(
                    "UPDATE messages SET parent_id = {parent} WHERE id = '{}'",
                    damaged.id
                );
                execute_sql(&storage, sql).await;
            };
            set(parent).await;
            let mut expected = sound.messages.clone();
            expected[index] = marked(damaged);
            let read = load_transcript(&storage, conversation_id).await;
            assert_eq!(read.messages, expected, "{index}: {parent}");
            assert_eq!(read.shown_branch().len(), 6, "{index}: {parent}");
            assert_eq!(
                older(&storage, conversation_id, damaged.id).await,
                sound.messages[..index]
            );
            set(&format!("'{}'", sound.messages[index - 1].id)).await;
        }
    }
}

#[tokio::test]
async fn a_damaged_id_hides_no_other_message() {
    let (_folder, storage) = open_storage().await;
    let (conversation_id, sound) = three_turns(&storage).await;
    for (index, damaged) in sound.messages.iter().enumerate() {
        for id in &DAMAGED_IDS[..3] {
            let rename = async |from: &str, to: &str| {
                execute_sql(
                    &storage,
                    format!("UPDATE messages SET id = {to} WHERE id = {from}"),
                )
                .await;
            };
            let sound_id = format!("'{}'", damaged.id);
            rename(&sound_id, id).await;
            let mut expected = sound.messages.clone();
            expected[index] = marked(damaged);
            let read = load_transcript(&storage, conversation_id).await;
            assert_eq!(read.messages, expected, "{index}: {id}");
            assert_eq!(read.shown_branch().len(), 6, "{index}: {id}");
            // Pages that begin at it, and after it. Nothing refers to the last one.
            if let Some(next) = sound.messages.get(index + 1) {
                assert_eq!(
                    older(&storage, conversation_id, damaged.id).await,
                    expected[..index]
                );
                assert_eq!(
                    older(&storage, conversation_id, next.id).await,
                    expected[..=index]
                );
            }
            rename(id, &sound_id).await;
        }
    }
}

#[tokio::test]
async fn the_model_gets_messages_before_a_damaged_one() {
    let (_folder, storage) = open_storage().await;
    let (conversation_id, sound) = three_turns(&storage).await;
    let [question, answer, last] = [2, 3, 5].map(|index| sound.messages[index].id);
    execute_sql(
        &storage,
        format!("UPDATE messages SET parent_id = 'none' WHERE id = '{answer}'"),
    )
    .await;
    execute_sql(
        &storage,
        format!("UPDATE messages SET id = 'odd' WHERE id = '{question}'"),
    )
    .await;
    execute_sql(
        &storage,
        format!("UPDATE messages SET id = 'end' WHERE id = '{last}'"),
    )
    .await;
    let (_, run) = answered_turn(&storage, conversation_id, "Go on").await;
    let context = storage.run_context(run).await.unwrap().expect("it is there");
    let texts: Vec<String> = context.history.iter().map(message_text).collect();
    assert_eq!(texts, ["One", "Answer.", "Answer.", "Three", "Go on"]);
    // The question of a run is damaged.
    execute_sql(
        &storage,
        format!(
            "UPDATE messages SET id = 'asked' WHERE id = '{}'",
            context.history[4].id
        ),
    )
    .await;
    let context = storage.run_context(run).await.unwrap().expect("it is there");
    let texts: Vec<String> = context.history.iter().map(message_text).collect();
    assert_eq!(texts, ["One", "Answer.", "Answer.", "Three", "Go on"]);
}

fn message_text(message: &Message) -> String {
    match &message.body {
        MessageBody::User { text, .. } => text.clone(),
        MessageBody::Assistant(answer) => answer.text(),
        MessageBody::Damaged => "damaged".into(),
    }
}
