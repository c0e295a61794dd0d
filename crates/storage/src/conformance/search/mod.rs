//! Full-text search: what is found by whom, and that deleted words are not.

mod cases;

use self::cases::CASES;
use super::*;
use crate::search::{SearchQuery, SearchRequest};
use parlor_protocol::{
    literature::{Article, SavedArticle},
    search::{HitKind, SearchHit, SearchOrder},
};

pub(super) fn request(query: &str) -> SearchRequest {
    SearchRequest {
        query: SearchQuery::parse(query),
        limit: 50,
        ..SearchRequest::default()
    }
}

async fn hits(storage: &dyn Storage, user_id: UserId, query: &str) -> Vec<SearchHit> {
    let found = storage.search(user_id, &request(query)).await;
    found.expect("storage works").hits
}

/// Returns the marked texts of the hits of a kind.
async fn found(storage: &dyn Storage, user_id: UserId, query: &str, kind: HitKind) -> Vec<String> {
    let hits = hits(storage, user_id, query).await.into_iter();
    let of_kind = hits.filter(|hit| hit.kind == kind);
    of_kind.map(|hit| hit.snippet.text).collect()
}

async fn ask_and_answer(storage: &dyn Storage, user_id: UserId, question: &str, answer: &str) -> TestTurn {
    let turn = new_turn(user_id, ConversationId::new(), question);
    for change in [&turn.change, &end_run(turn.run, answer)] {
        commit_one(storage, change).await.expect("it is accepted");
    }
    turn
}

pub async fn texts_are_found_by_their_words(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let mut answers = Vec::new();
    for (text, _, _) in CASES {
        let turn = ask_and_answer(&*storage, TEST_USER, "q", text).await;
        answers.push(Some(turn.run.message_id));
    }
    for ((text, by, not_by), answer) in CASES.iter().zip(answers) {
        for (query, expected) in by
            .iter()
            .map(|query| (query, true))
            .chain(not_by.iter().map(|query| (query, false)))
        {
            let found = hits(&*storage, TEST_USER, query).await;
            let is_found = found.iter().any(|hit| hit.message_id == answer);
            assert_eq!(is_found, expected, "{query}: {text}");
            assert!(
                found.iter().all(|hit| !hit.snippet.marks.is_empty()),
                "{query}: {found:?}"
            );
        }
    }
}

pub async fn conditions_narrow_a_search(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let turn = ask_and_answer(storage, TEST_USER, "Green tea?", "Yes, green tea.").await;
    let kinds = async |query: &str| {
        let hits = hits(storage, TEST_USER, query).await;
        let mut kinds: Vec<&str> = hits.iter().map(|hit| hit.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.join(" ")
    };
    assert_eq!(kinds("tea").await, "answer question title");
    assert_eq!(kinds("tea from:me").await, "question");
    assert_eq!(kinds("from:assistant").await, "answer");
    // The cases' time is 21 November 2026.
    assert_eq!(kinds("tea after:2026-11-21").await, "answer question title");
    assert_eq!(kinds("tea after:2026-11-22").await, "");
    assert_eq!(kinds("tea before:2026-11-21").await, "");
    assert_eq!(kinds("tea in:kitchen").await, "");
    assert_eq!(kinds("tea file:").await, "");
    assert_eq!(kinds("").await, "");
    // Words of the index itself are no words of a text.
    assert_eq!(kinds("kanswer").await, "");
    let mut except = request("tea");
    except.except = Some(turn.run.conversation_id);
    assert!(
        storage
            .search(TEST_USER, &except)
            .await
            .expect("it works")
            .hits
            .is_empty()
    );
    let mut inside = request("tea");
    inside.conversation_id = Some(turn.run.conversation_id);
    assert_eq!(
        storage
            .search(TEST_USER, &inside)
            .await
            .expect("it works")
            .hits
            .len(),
        3
    );
    inside.conversation_id = Some(ConversationId::new());
    assert!(
        storage
            .search(TEST_USER, &inside)
            .await
            .expect("it works")
            .hits
            .is_empty()
    );
}

pub async fn search_finds_nothing_of_others(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = ask_and_answer(&*storage, TEST_USER, "My secret", "Your secret").await;
    assert_eq!(hits(&*storage, TEST_USER, "secret").await.len(), 3);
    assert!(hits(&*storage, other_user(), "secret").await.is_empty());
    assert!(hits(&*storage, other_user(), "from:me").await.is_empty());
    let mut inside = request("secret");
    inside.conversation_id = Some(turn.run.conversation_id);
    inside.order = SearchOrder::Newest;
    assert!(
        storage
            .search(other_user(), &inside)
            .await
            .expect("it works")
            .hits
            .is_empty()
    );
    // Nor does another's data change what is found or its order.
    let before = hits(&*storage, TEST_USER, "secret").await;
    for _ in 0..3 {
        ask_and_answer(&*storage, other_user(), "secret secret", "secret").await;
    }
    assert_eq!(hits(&*storage, TEST_USER, "secret").await, before);
    // Also while most of all data are of one of them.
    let of_other = hits(&*storage, other_user(), "secret").await;
    for _ in 0..20 {
        ask_and_answer(&*storage, TEST_USER, "secret secret", "secret").await;
    }
    assert_eq!(hits(&*storage, other_user(), "secret").await, of_other);
    let own = hits(&*storage, TEST_USER, "secret").await;
    let is_own = |hit: &SearchHit| !of_other.contains(hit);
    assert!(own.len() > before.len() && own.iter().all(is_own));
}

/// Whoever follows the commits to index them would be woken by itself, for ever.
pub async fn indexing_nothing_wakes_nobody(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    while storage.index_old_data().await.expect("storage works") {}
    let mut commits = storage.watch_commits().await;
    commits.mark_unchanged();
    assert!(!storage.index_old_data().await.expect("storage works"));
    assert!(!commits.has_changed().expect("it is open"));
    let turn = new_turn(TEST_USER, ConversationId::new(), "something");
    commit_one(&*storage, &turn.change).await.expect("storage works");
    assert!(commits.has_changed().expect("it is open"));
}

pub async fn only_the_present_state_is_found(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let turn = new_turn(TEST_USER, ConversationId::new(), "alpha");
    commit_one(storage, &turn.change).await.expect("it starts");
    let events = vec![text(0, "bravo")];
    let output = |output| Change::Output {
        run: turn.run,
        output,
    };
    let message = answer_message("bravo");
    commit_one(storage, &output(RunOutput::AppendEvents { events }))
        .await
        .expect("it goes on");
    commit_one(storage, &output(RunOutput::StoreMessage { message }))
        .await
        .expect("it is stored");
    assert!(
        hits(storage, TEST_USER, "bravo").await.is_empty(),
        "an answer is found at its end"
    );
    commit_one(storage, &end_run(turn.run, "bravo"))
        .await
        .expect("it ends");
    assert_eq!(
        found(storage, TEST_USER, "bravo", HitKind::Answer).await,
        ["bravo"]
    );

    let conversation = |change| Change::Conversation {
        user_id: TEST_USER,
        conversation_id: turn.run.conversation_id,
        change,
    };
    let title = "charlie".to_owned();
    commit_one(storage, &conversation(ConversationChange::Rename { title }))
        .await
        .expect("it is renamed");
    assert_eq!(
        found(storage, TEST_USER, "charlie", HitKind::Title).await,
        ["charlie"]
    );
    assert!(
        found(storage, TEST_USER, "alpha", HitKind::Title)
            .await
            .is_empty()
    );

    let (message_id, hidden_at) = (turn.user_message_id, NOON);
    let delete = conversation(ConversationChange::DeleteMessage {
        message_id,
        hidden_at,
    });
    commit_one(storage, &delete).await.expect("it is hidden");
    assert!(hits(storage, TEST_USER, "alpha").await.is_empty());
    assert!(
        hits(storage, TEST_USER, "bravo").await.is_empty(),
        "what follows is hidden, too"
    );
    commit_one(
        storage,
        &conversation(ConversationChange::RestoreMessage { message_id }),
    )
    .await
    .expect("it is back");
    assert_eq!(hits(storage, TEST_USER, "alpha").await.len(), 1);
    assert_eq!(hits(storage, TEST_USER, "bravo").await.len(), 1);
    commit_one(storage, &delete).await.expect("it is hidden");
    commit_one(
        storage,
        &conversation(ConversationChange::EraseMessage {
            message_id,
            hidden_at,
        }),
    )
    .await
    .expect("it is gone");
    assert!(hits(storage, TEST_USER, "alpha").await.is_empty());
    commit_one(storage, &conversation(ConversationChange::Delete))
        .await
        .expect("it is deleted");
    assert!(hits(storage, TEST_USER, "charlie").await.is_empty());
}

pub async fn files_and_articles_are_found(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let mut turn = new_turn(TEST_USER, ConversationId::new(), "Look.");
    let file = test_file(turn.run.conversation_id, "Quarterly report.pdf");
    let id = file.attachment.id;
    commit_one(storage, &Change::File(FileChange::StoreUpload { file }))
        .await
        .expect("it is stored");
    assert!(
        hits(storage, TEST_USER, "report").await.is_empty(),
        "no message has it"
    );
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.files = vec![id];
    }
    commit_one(storage, &turn.change).await.expect("it is sent");
    assert_eq!(
        found(storage, TEST_USER, "report", HitKind::File).await,
        ["Quarterly report.pdf"]
    );
    let (user_id, unindexed) = storage
        .next_unindexed_file()
        .await
        .expect("it works")
        .expect("its text is missing");
    assert_eq!((user_id, unindexed.attachment.id), (TEST_USER, id));
    let index = |first: usize, text: &str, is_last: bool| {
        let texts = vec![text.to_owned()];
        Change::File(FileChange::IndexText {
            id,
            first,
            texts,
            is_last,
        })
    };
    for change in [
        index(1, "old", false),
        index(1, "Revenue grew.", false),
        index(2, "Costs fell.", true),
    ] {
        commit_one(storage, &change).await.expect("it is indexed");
    }
    assert!(storage.next_unindexed_file().await.expect("it works").is_none());
    assert!(hits(storage, TEST_USER, "old").await.is_empty());
    assert_eq!(
        found(storage, TEST_USER, "costs file:quart", HitKind::File).await,
        ["Costs fell."]
    );
    assert_eq!(
        found(storage, TEST_USER, "costs report", HitKind::File).await,
        ["Costs fell."]
    );
    assert!(hits(storage, TEST_USER, "costs file:revenue").await.is_empty());
    let [hit] = &hits(storage, TEST_USER, "file:report revenue from:me").await[..] else {
        panic!("one file is found");
    };
    assert_eq!(
        (hit.file_id, hit.message_id),
        (Some(id), Some(turn.user_message_id))
    );

    let article = SavedArticle {
        article: Article {
            pmid: "11".into(),
            title: "Lakes".into(),
            authors: vec!["Roe J".into()],
            ..Article::default()
        },
        note: "shallow".into(),
        saved_at: NOON,
    };
    let update = |update| Change::Library {
        user_id: TEST_USER,
        update,
    };
    let save = update(LibraryUpdate::SaveArticle {
        article,
        abstract_text: Some(vec!["Eutrophication.".into()]),
        limit: 9,
    });
    commit_one(storage, &save).await.expect("it is saved");
    assert_eq!(
        found(storage, TEST_USER, "lakes roe shallow eutroph", HitKind::Article)
            .await
            .len(),
        1
    );
    let note = update(LibraryUpdate::SetArticleNote {
        pmid: "11".into(),
        note: "deep".into(),
        replaces: vec!["shallow".into()],
    });
    commit_one(storage, &note).await.expect("it is noted");
    assert!(hits(storage, TEST_USER, "shallow").await.is_empty());
    assert_eq!(
        hits(storage, TEST_USER, "deep lakes").await[0].pmid.as_deref(),
        Some("11")
    );
    let remove = update(LibraryUpdate::RemoveArticle { pmid: "11".into() });
    commit_one(storage, &remove).await.expect("it is removed");
    assert!(hits(storage, TEST_USER, "lakes").await.is_empty());
}

pub async fn long_lists_of_hits_have_pages(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let mut expected = Vec::new();
    for number in 0..7 {
        let turn = new_turn(TEST_USER, ConversationId::new(), "x");
        let at = Timestamp(NOON.0 + 2000 * number);
        for change in [turn.change, end_run(turn.run, &format!("tea {number}"))] {
            let committed = storage.commit(at, &[change]).await.expect("it works");
            assert!(committed.outcomes[0].is_ok());
        }
        expected.insert(0, format!("tea {number}"));
    }
    for order in [SearchOrder::Newest, SearchOrder::Best] {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let part = SearchRequest {
                order,
                cursor,
                limit: 3,
                ..request("tea")
            };
            let part = storage.search(TEST_USER, &part).await.expect("it works");
            assert!(part.hits.len() <= 3);
            all.extend(part.hits.into_iter().map(|hit| hit.snippet.text));
            cursor = part.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, expected, "{order:?}");
    }
}

pub async fn a_long_text_is_one_of_the_newest_hits(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    // More passages than are read at a time.
    let long = "much tea and more of it\n\n".repeat(5_000);
    let mut expected = Vec::new();
    for (number, text) in [&*long, "tea", &*long, &*long, "tea"].into_iter().enumerate() {
        let turn = new_turn(TEST_USER, ConversationId::new(), "x");
        let at = Timestamp(NOON.0 + 2000 * i64::try_from(number).expect("it is small"));
        for change in [turn.change, end_run(turn.run, text)] {
            let committed = storage.commit(at, &[change]).await.expect("it works");
            assert!(committed.outcomes[0].is_ok());
        }
        expected.insert(0, Some(turn.run.message_id));
    }
    for limit in 1..4 {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let part = SearchRequest {
                order: SearchOrder::Newest,
                cursor,
                limit,
                ..request("tea")
            };
            let part = storage.search(TEST_USER, &part).await.expect("it works");
            all.extend(part.hits.into_iter().map(|hit| hit.message_id));
            cursor = part.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, expected, "{limit} a page");
    }
}

/// A document with a text, as an upload.
pub(crate) fn test_file(conversation_id: ConversationId, name: &str) -> StoredFile {
    StoredFile {
        attachment: Attachment {
            id: AttachmentId::new(),
            name: name.into(),
            media_type: "application/pdf".into(),
            bytes: 1,
            width: None,
            height: None,
            text_bytes: Some(20),
            problem: None,
        },
        location: FileLocation {
            user_id: TEST_USER,
            conversation_id,
            stored_name: uuid::Uuid::new_v4(),
        },
    }
}
