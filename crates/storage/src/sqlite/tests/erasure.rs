//! Deleted data leaves the files too.

use super::*;
use crate::QueueLimits;
use captured_log::CapturedLog;
use parlor_protocol::{
    Attachment, AttachmentId, PlacedProviderData, ProviderData, RawJson,
    intent::{QueueChange, SendMessage},
    literature::{Article, SavedArticle},
    transcript::apply_to_run,
};

const SECRET_WORD: &str = "Rumpelstilzchen";

/// Returns the files in a folder that contain the secret.
fn files_with_secret(folder: &Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let contains = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(SECRET_WORD.len())
            .any(|bytes| bytes == SECRET_WORD.as_bytes())
    };
    paths.filter(contains).collect()
}

/// Stores a secret, once within a page and once on pages of its own, and deletes it.
async fn store_and_delete_secret(storage: &SqliteStorage) {
    for text in [SECRET_WORD.to_owned(), SECRET_WORD.repeat(2000)] {
        let (send, run) = send_change(&text);
        let delta = RunEvent::TextDelta {
            node: 0,
            part: 0,
            offset: 0,
            text: text.clone(),
        };
        let attachment = StoredFile {
            attachment: Attachment {
                id: AttachmentId::new(),
                name: text.clone(),
                media_type: "image/png".into(),
                bytes: text.len(),
                width: None,
                height: None,
                text_bytes: None,
                problem: None,
            },
            location: FileLocation {
                user_id: run.user_id,
                conversation_id: run.conversation_id,
                stored_name: uuid::Uuid::new_v4(),
            },
        };
        let (user_id, conversation_id) = (run.user_id, run.conversation_id);
        let delete = Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::Delete,
        };
        let events = vec![delta];
        let attach = Change::Output {
            run,
            output: RunOutput::StoreAttachment { attachment },
        };
        let placed = PlacedProviderData {
            node: 0,
            part: None,
            endpoint: "x".into(),
            data: ProviderData {
                kind: "openai".into(),
                field: "extra_content".into(),
                value: RawJson::parse_or_quote(&text),
            },
        };
        let keep = Change::Output {
            run,
            output: RunOutput::StoreProviderData { placed },
        };
        for change in [
            send,
            keep,
            Change::Output {
                run,
                output: RunOutput::AppendEvents { events },
            },
            attach,
            delete,
        ] {
            let done = storage.commit(NOON, &[change]).await.unwrap();
            assert!(done.outcomes[0].is_ok(), "{:?}", done.outcomes);
        }
        save_and_remove_secret(storage, &text).await;
        send_and_erase_secret(storage, &text).await;
    }
}

/// Erases a message with a secret, and removes one from the queue.
async fn send_and_erase_secret(storage: &SqliteStorage, secret: &str) {
    let (send, run) = send_change(secret);
    let Change::Intent {
        change: IntentChange::SendMessage { intent, start, .. },
        ..
    } = send.clone()
    else {
        unreachable!("it sends")
    };
    let (user_id, conversation_id) = (run.user_id, run.conversation_id);
    let message_id = intent.user_message_id;
    let waiting = MessageId::new();
    let limits = QueueLimits {
        messages: 9,
        bytes: 1 << 20,
    };
    let queue = Change::Intent {
        user_id,
        change: IntentChange::QueueMessage {
            intent: SendMessage {
                intent_id: IntentId::new(),
                user_message_id: waiting,
                ..intent
            },
            start: RunStart {
                run: MessageId::new(),
                ..start
            },
            limits,
        },
    };
    let remove = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::Queue {
            change: QueueChange::Remove { message_id: waiting },
            limits,
        },
    };
    let ended = RunEvent::Complete {
        finish_reason: None,
        is_quiet: false,
        ended_at: NOON,
        worked_ms: 1,
    };
    let mut message = AssistantMessage::new("x/m");
    apply_to_run(&mut message, &ended);
    let end = Change::Output {
        run,
        output: RunOutput::EndRun {
            events: vec![ended],
            message,
        },
    };
    let hide = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::DeleteMessage {
            message_id,
            hidden_at: NOON,
        },
    };
    let erase = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::EraseMessage {
            message_id,
            hidden_at: NOON,
        },
    };
    for change in [send, queue, remove, end, hide, erase] {
        let done = storage.commit(NOON, &[change]).await.unwrap();
        assert!(done.outcomes[0].is_ok(), "{:?}", done.outcomes);
    }
}

/// Overwrites a secret in an article's note, and removes an article with a secret note.
async fn save_and_remove_secret(storage: &SqliteStorage, secret: &str) {
    let user_id = UserId::LOCAL;
    let save = |pmid: &str| Change::Library {
        user_id,
        update: LibraryUpdate::SaveArticle {
            article: SavedArticle {
                article: Article {
                    pmid: pmid.into(),
                    ..Article::default()
                },
                note: secret.into(),
                saved_at: NOON,
            },
            abstract_text: None,
            limit: 9,
        },
    };
    let note = Change::Library {
        user_id,
        update: LibraryUpdate::SetArticleNote {
            pmid: "1".into(),
            note: "Nothing.".into(),
            replaces: vec![secret.into()],
        },
    };
    let remove = |pmid: &str| Change::Library {
        user_id,
        update: LibraryUpdate::RemoveArticle { pmid: pmid.into() },
    };
    for change in [save("1"), note, save("2"), remove("2"), remove("1")] {
        let done = storage.commit(NOON, &[change]).await.unwrap();
        assert!(done.outcomes[0].is_ok(), "{:?}", done.outcomes);
    }
}

#[tokio::test]
async fn deleted_data_soon_leaves_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    // Twice, to cover a deletion after the log was emptied.
    for _ in 0..2 {
        store_and_delete_secret(&storage).await;
        assert!(!files_with_secret(folder.path()).is_empty(), "it was there");
        wait_until(|| files_with_secret(folder.path()).is_empty()).await;
    }
    store_and_delete_secret(&storage).await;
    storage.close().await.unwrap();
    assert!(files_with_secret(folder.path()).is_empty());
}

#[tokio::test]
async fn deletion_during_a_read_is_erased_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    let (log, _listening) = CapturedLog::capture();
    let mut reader = storage.readers.begin().await.unwrap();
    log_page::last_log_position(&mut reader, UserId::LOCAL)
        .await
        .unwrap();
    store_and_delete_secret(&storage).await;
    wait_until(|| log.contains("a reader still needs")).await;
    assert!(!files_with_secret(folder.path()).is_empty(), "it is still there");
    drop(reader);
    wait_until(|| files_with_secret(folder.path()).is_empty()).await;
}

#[tokio::test]
async fn deletion_before_a_crash_is_erased_after_restart() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    store_and_delete_secret(&storage).await;
    // The files as a killed process leaves them.
    for name in [DATABASE_FILE_NAME.to_owned(), format!("{DATABASE_FILE_NAME}-wal")] {
        std::fs::copy(folder.path().join(&name), other.path().join(&name)).unwrap();
    }
    assert!(!files_with_secret(other.path()).is_empty(), "it is there");
    let _storage = SqliteStorage::open(other.path()).await.unwrap();
    wait_until(|| files_with_secret(other.path()).is_empty()).await;
}
