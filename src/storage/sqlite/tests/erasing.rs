//! What is deleted leaves the files too.

use super::*;
use crate::{
    protocol::{
        Attachment, AttachmentId, Json, Opaque, PlacedOpaque,
        literature::{Article, SavedArticle},
    },
    test_log::Log,
};

const SECRET: &str = "Rumpelstilzchen";

/// The files in a folder that contain the secret.
fn files_with_secret(folder: &Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let contains = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(SECRET.len())
            .any(|bytes| bytes == SECRET.as_bytes())
    };
    paths.filter(contains).collect()
}

/// Says a secret, within a page and on pages of its own; deletes it.
async fn say_and_delete(storage: &Sqlite) {
    for text in [SECRET.to_owned(), SECRET.repeat(2000)] {
        let (send, run) = send(&text);
        let said = EventBody::TextDelta {
            node: 0,
            part: 0,
            offset: 0,
            text: text.clone(),
        };
        let attachment = StoredAttachment {
            attachment: Attachment {
                id: AttachmentId::new(),
                name: text.clone(),
                media_type: "image/png".into(),
                bytes: text.len(),
            },
            data: text.clone().into(),
        };
        let (user_id, conversation_id) = (run.user_id, run.conversation_id);
        let delete = Change::Delete {
            user_id,
            conversation_id,
        };
        let events = vec![said];
        let attach = Change::Attach { run, attachment };
        let placed = PlacedOpaque {
            node: 0,
            part: None,
            endpoint: "x".into(),
            data: Opaque {
                kind: "openai".into(),
                field: "extra_content".into(),
                value: Json::or_string(&text),
            },
        };
        let keep = Change::KeepOpaque { run, placed };
        for change in [send, keep, Change::Append { run, events }, attach, delete] {
            let done = storage.commit(NOON, &[change]).await.unwrap();
            assert!(done.outcomes[0].is_ok(), "{:?}", done.outcomes);
        }
        keep_and_remove(storage, &text).await;
    }
}

/// Writes a secret about an article, and something else over it; one of its own, and removes that.
async fn keep_and_remove(storage: &Sqlite, secret: &str) {
    let user_id = UserId::LOCAL;
    let save = |pmid: &str| Change::SaveArticle {
        user_id,
        article: SavedArticle {
            article: Article {
                pmid: pmid.into(),
                ..Article::default()
            },
            note: secret.into(),
            saved_at: NOON,
        },
        summary: None,
        limit: 9,
    };
    let note = Change::NoteArticle {
        user_id,
        pmid: "1".into(),
        note: "Nothing.".into(),
        replaces: vec![secret.into()],
    };
    let remove = |pmid: &str| Change::RemoveArticle {
        user_id,
        pmid: pmid.into(),
    };
    for change in [save("1"), note, save("2"), remove("2"), remove("1")] {
        let done = storage.commit(NOON, &[change]).await.unwrap();
        assert!(done.outcomes[0].is_ok(), "{:?}", done.outcomes);
    }
}

#[tokio::test]
async fn what_is_deleted_is_soon_not_in_the_files_either() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Sqlite::open(folder.path()).await.unwrap();
    nothing_is_in_the_log(folder.path()).await;
    // Once, and once more.
    for _ in 0..2 {
        say_and_delete(&storage).await;
        assert!(!files_with_secret(folder.path()).is_empty(), "it was there");
        until(|| files_with_secret(folder.path()).is_empty()).await;
    }
    say_and_delete(&storage).await;
    storage.close().await.unwrap();
    assert!(files_with_secret(folder.path()).is_empty());
}

#[tokio::test]
async fn what_is_deleted_while_somebody_reads_is_gone_soon_after_that() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Sqlite::open(folder.path()).await.unwrap();
    nothing_is_in_the_log(folder.path()).await;
    let (log, _listening) = Log::listen();
    let mut reader = storage.readers.begin().await.unwrap();
    read::head(&mut reader, UserId::LOCAL).await.unwrap();
    say_and_delete(&storage).await;
    until(|| log.says("somebody reads")).await;
    assert!(!files_with_secret(folder.path()).is_empty(), "it is still there");
    reader.rollback().await.unwrap();
    until(|| files_with_secret(folder.path()).is_empty()).await;
}

#[tokio::test]
async fn what_was_deleted_before_a_crash_is_gone_soon_after_the_next_start() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage = Sqlite::open(folder.path()).await.unwrap();
    nothing_is_in_the_log(folder.path()).await;
    say_and_delete(&storage).await;
    // What a process that is killed would leave.
    for name in [FILE_NAME.to_owned(), format!("{FILE_NAME}-wal")] {
        std::fs::copy(folder.path().join(&name), other.path().join(&name)).unwrap();
    }
    assert!(!files_with_secret(other.path()).is_empty(), "it is there");
    let _storage = Sqlite::open(other.path()).await.unwrap();
    until(|| files_with_secret(other.path()).is_empty()).await;
}
