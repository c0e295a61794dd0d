//! The search index in the database file: deleted words leave it, and an interrupted or damaged one is completed.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use super::*;
use crate::{
    conformance::test_file,
    search::{SearchQuery, SearchRequest},
};
use parlor_protocol::literature::{Article, SavedArticle};

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        query: SearchQuery::parse(query),
        limit: 1000,
        ..SearchRequest::default()
    }
}

async fn hits(storage: &SqliteStorage, query: &str) -> usize {
    let found = storage.search(UserId::LOCAL, &request(query)).await;
    found.unwrap().hits.len()
}

fn contain(folder: &Path, word: &str) -> bool {
    let mut files = std::fs::read_dir(folder).unwrap();
    files.any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(word.len()).any(|bytes| bytes == word.as_bytes())
    })
}

/// Returns the terms of the index.
async fn terms(storage: &SqliteStorage) -> Vec<String> {
    let sql = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, search_index, row)";
    execute_sql(storage, sql.into()).await;
    let mut writer = storage.writer.lock().await;
    let terms = sqlx::query_scalar("SELECT term FROM temp.terms");
    terms
        .fetch_all(writer.connection.as_mut().unwrap().sqlite().unwrap())
        .await
        .unwrap()
}

fn of_conversation(run: RunKey, change: ConversationChange) -> Change {
    Change::Conversation {
        user_id: run.user_id,
        conversation_id: run.conversation_id,
        change,
    }
}

fn delete(run: RunKey) -> Change {
    of_conversation(run, ConversationChange::Delete)
}

async fn documents(storage: &SqliteStorage) -> i64 {
    query_scalar("SELECT count(*) FROM search_documents")
        .fetch_one(&mut storage.readers.acquire().await.unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn deleted_words_leave_the_index_and_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    // Others share pages of the index with them, before and after.
    for number in 0..200 {
        let text = format!("rum rump{number} rumpelstilz{number} zwerg");
        storage.commit(NOON, &[send_change(&text).0]).await.unwrap();
    }
    let (secret, run) = send_change("Heute back ich, RumpelStilzchen und ÄÖZauberwort");
    storage.commit(NOON, &[secret]).await.unwrap();
    let words = ["rumpelstilzchen", "aozauberwort"];
    assert!(
        words.iter().all(|word| contain(folder.path(), word)),
        "they were there"
    );
    storage.commit(NOON, &[delete(run)]).await.unwrap();
    assert_eq!(hits(&storage, "zauberwort*").await, 0);
    wait_until(|| !words.iter().any(|word| contain(folder.path(), word))).await;
    let left = terms(&storage).await;
    assert!(left.iter().any(|term| term == "zwerg"));
    let deleted = |term: &&String| words.contains(&&***term) || *term == "stilzchen" || *term == "rumpel";
    assert_eq!(left.iter().find(deleted), None);
}

/// A title, an article and the name and text of a file.
#[tokio::test]
async fn other_deleted_words_leave_the_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    let commit = async |change: Change| {
        let done = storage.commit(NOON, std::slice::from_ref(&change)).await.unwrap();
        assert!(done.outcomes.iter().all(Result::is_ok), "{change:?}: {done:?}");
    };
    let (mut send, run) = send_change("A question");
    let file = test_file(run.conversation_id, "Zimtschnecke.txt");
    let id = file.attachment.id;
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut send
    {
        intent.files = vec![id];
    }
    let article = SavedArticle {
        article: Article {
            pmid: "11".into(),
            title: "Haselmaus".into(),
            ..Article::default()
        },
        note: "Wolkenbruch".into(),
        saved_at: NOON,
    };
    let library = |update| Change::Library {
        user_id: UserId::LOCAL,
        update,
    };
    let title = "Sternschnuppe".into();
    let rename = of_conversation(run, ConversationChange::Rename { title });
    let ends = FileChange::IndexText {
        id,
        first: 1,
        texts: vec!["Pfefferkuchen".into()],
        is_last: true,
    };
    let save = LibraryUpdate::SaveArticle {
        article,
        abstract_text: Some(vec!["Regenbogen".into()]),
        limit: 9,
    };
    for change in [
        Change::File(FileChange::StoreUpload { file }),
        send,
        rename,
        Change::File(ends),
        library(save),
    ] {
        commit(change).await;
    }
    let remove = library(LibraryUpdate::RemoveArticle { pmid: "11".into() });
    for (change, words) in [
        (remove, &["haselmaus", "wolkenbruch", "regenbogen"]),
        (delete(run), &["sternschnuppe", "zimtschnecke", "pfefferkuchen"]),
    ] {
        for word in words {
            assert_eq!(hits(&storage, word).await, 1, "{word}");
            assert!(contain(folder.path(), word), "{word} was there");
        }
        commit(change).await;
        for word in words {
            wait_until(|| !contain(folder.path(), word)).await;
            assert_eq!(hits(&storage, word).await, 0, "{word}");
        }
    }
}

#[tokio::test]
async fn a_deletion_that_can_be_undone_writes_no_word() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    let (send, run) = send_change("Rumpelstilzchen");
    storage.commit(NOON, &[send]).await.unwrap();
    let trash = of_conversation(run, ConversationChange::Trash { trashed_at: NOON });
    let erase = of_conversation(run, ConversationChange::Erase { trashed_at: NOON });
    for (change, hits_after, documents_after) in [
        (trash.clone(), 0, 2),
        (of_conversation(run, ConversationChange::Restore), 2, 2),
        (trash, 0, 2),
        (erase, 0, 0),
    ] {
        let done = storage.commit(NOON, std::slice::from_ref(&change)).await.unwrap();
        assert!(done.outcomes.iter().all(Result::is_ok), "{change:?}: {done:?}");
        let after = (hits(&storage, "rumpelstilzchen").await, documents(&storage).await);
        assert_eq!(after, (hits_after, documents_after), "{change:?}");
    }
    wait_until(|| !contain(folder.path(), "rumpelstilzchen")).await;
}

#[tokio::test]
async fn what_is_restored_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let (send, run) = send_change("old");
    storage.commit(NOON, &[send]).await.unwrap();
    let forget = "DELETE FROM search_documents; \
        INSERT INTO search_pending SELECT 'message', id, 0 FROM messages; \
        INSERT INTO search_pending SELECT 'title', id, 0 FROM conversations";
    execute_sql(&storage, forget.into()).await;
    let trash = of_conversation(run, ConversationChange::Trash { trashed_at: NOON });
    storage.commit(NOON, &[trash]).await.unwrap();
    while storage.index_old_data().await.unwrap() {}
    assert_eq!(hits(&storage, "old").await, 0);
    let restore = of_conversation(run, ConversationChange::Restore);
    storage
        .commit(NOON, std::slice::from_ref(&restore))
        .await
        .unwrap();
    assert_eq!(hits(&storage, "old").await, 2);
    // As an earlier version has deleted it.
    let trash = of_conversation(run, ConversationChange::Trash { trashed_at: NOON });
    storage.commit(NOON, &[trash]).await.unwrap();
    execute_sql(&storage, "DELETE FROM search_documents".into()).await;
    storage.commit(NOON, &[restore]).await.unwrap();
    assert_eq!(hits(&storage, "old").await, 2);
}

#[tokio::test]
async fn a_temporary_conversation_leaves_nothing_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    wait_for_empty_wal(folder.path()).await;
    let (mut send, run) = send_change("Rumpelstilzchen");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut send
    {
        intent.temporary = true;
    }
    storage.commit(NOON, &[send]).await.unwrap();
    assert!(contain(folder.path(), "Rumpelstilzchen"), "it was there");
    assert!(!contain(folder.path(), "rumpelstilzchen"), "it was not indexed");
    let ended = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0);
    let mut message = AssistantMessage::new("x/m");
    parlor_protocol::transcript::apply_to_run(&mut message, &ended);
    let events = vec![ended];
    let end = Change::Output {
        run,
        output: RunOutput::EndRun { events, message },
    };
    storage.commit(NOON, &[end]).await.unwrap();
    let expire = of_conversation(
        run,
        ConversationChange::Expire {
            before: Timestamp(NOON.0 + 1),
            reason: ExpiryReason::Temporary,
        },
    );
    storage.commit(NOON, &[expire]).await.unwrap();
    wait_until(|| !contain(folder.path(), "Rumpelstilzchen")).await;
}

/// Polls a future a number of times, and drops it unless it has ended.
async fn poll_at_most<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(done);
        }
        // The database has a thread of its own.
        tokio::task::yield_now().await;
        std::thread::yield_now();
    }
    None
}

#[tokio::test]
async fn interrupted_indexing_neither_doubles_nor_misses() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let mut runs = Vec::new();
    for number in 0..150 {
        let (send, run) = send_change(&format!("old number{number}"));
        storage.commit(NOON, &[send]).await.unwrap();
        runs.push(run);
    }
    // As the migration leaves the data of an earlier version.
    let forget = "DELETE FROM search_documents; \
        INSERT INTO search_pending SELECT 'message', id, 0 FROM messages; \
        INSERT INTO search_pending SELECT 'title', id, 0 FROM conversations";
    execute_sql(&storage, forget.into()).await;
    assert_eq!(hits(&storage, "old").await, 0);
    let mut current = (folder, storage);
    for (round, run) in runs.into_iter().take(20).enumerate() {
        let (folder, storage) = &current;
        // New and deleted data in between.
        if round % 5 == 0 {
            storage
                .commit(NOON, &[send_change("new").0, delete(run)])
                .await
                .unwrap();
        }
        let percent = storage
            .search(UserId::LOCAL, &request("old"))
            .await
            .unwrap()
            .indexed_percent;
        assert!(
            percent.is_some_and(|percent| percent < 100),
            "round {round}: {percent:?}"
        );
        poll_at_most(20 + round * 40, storage.index_old_data()).await;
        // The files as a killed process leaves them.
        let other = tempfile::tempdir().unwrap();
        for name in [DATABASE_FILE_NAME.to_owned(), format!("{DATABASE_FILE_NAME}-wal")] {
            std::fs::copy(folder.path().join(&name), other.path().join(&name)).unwrap();
        }
        let reopened = SqliteStorage::open(other.path()).await.unwrap();
        current = (other, reopened);
    }
    let (_folder, storage) = &current;
    while storage.index_old_data().await.unwrap() {}
    // Each of the 146 conversations that are left has a question and a title, and four are new.
    assert_eq!(hits(storage, "old").await, 2 * 146);
    assert_eq!(hits(storage, "new").await, 2 * 4);
    assert_eq!(documents(storage).await, 2 * 150);
    let found = storage.search(UserId::LOCAL, &request("old")).await.unwrap();
    assert_eq!(found.indexed_percent, None);
    execute_sql(
        storage,
        "INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)".into(),
    )
    .await;
}

#[tokio::test]
async fn a_damaged_index_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let (first, run) = send_change("alpha");
    storage
        .commit(NOON, &[first, send_change("bravo").0])
        .await
        .unwrap();
    execute_sql(
        &storage,
        "UPDATE search_index_data SET block = X'00' WHERE id > 10".into(),
    )
    .await;
    let deleted = storage
        .commit(NOON, &[delete(run), send_change("charlie").0])
        .await
        .unwrap();
    assert!(deleted.outcomes.iter().all(Result::is_ok), "{deleted:?}");
    for (query, expected) in [("alpha", 0), ("bravo", 2), ("charlie", 2)] {
        assert_eq!(hits(&storage, query).await, expected, "{query}");
    }
}
