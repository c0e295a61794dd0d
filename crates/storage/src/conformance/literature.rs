//! The user's library, and page context snapshots.

use super::*;
use parlor_protocol::{
    PageContext, ResearchStreamId,
    draft::DraftList,
    literature::{
        self, Article, Category, Library, ResearchStream, SavedArticle, SchemaField, SchemaFieldType,
    },
};

fn article(pmid: &str) -> SavedArticle {
    SavedArticle {
        article: Article {
            pmid: pmid.into(),
            title: format!("About {pmid}"),
            authors: vec!["Roe J".into(), "Doe A".into()],
            journal: "J Water".into(),
            published: "2024 Mar".into(),
            doi: Some("10.1/x".into()),
        },
        note: String::new(),
        saved_at: NOON,
    }
}

fn save_article(user_id: UserId, article: SavedArticle) -> Change {
    Change::Library {
        user_id,
        update: LibraryUpdate::SaveArticle {
            article,
            abstract_text: Some(vec!["What it says.".into()]),
            limit: 2,
        },
    }
}

fn save_stream(user_id: UserId, stream: &ResearchStream) -> Change {
    Change::Library {
        user_id,
        update: LibraryUpdate::SaveResearchStream {
            stream: stream.clone(),
            limit: 2,
        },
    }
}

fn stream(name: &str) -> ResearchStream {
    ResearchStream {
        id: ResearchStreamId::new(),
        name: name.into(),
        purpose: "To know".into(),
        query: "water".into(),
        instructions: "Mind the methods.".into(),
        schema: DraftList(vec![SchemaField {
            name: "n".into(),
            question: "How many?".into(),
            kind: SchemaFieldType::Number,
        }]),
        categories: DraftList(vec![Category {
            name: "Trials".into(),
            description: "Randomised".into(),
        }]),
    }
}

async fn library(storage: &dyn Storage, user_id: UserId) -> Library {
    storage.library(user_id).await.expect("storage works")
}

fn set_note(note: &str, replaces: &[&str]) -> Change {
    Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::SetArticleNote {
            pmid: "11".into(),
            note: note.into(),
            replaces: replaces.iter().map(|note| (*note).to_owned()).collect(),
        },
    }
}

/// Folds the log's events into a library.
async fn replayed_library(storage: &dyn Storage, user_id: UserId) -> Library {
    let mut library = Library::default();
    for event in read_log(storage, user_id).await {
        assert_eq!(event.conversation_id, ConversationId::NONE);
        let change = match event.body {
            EventBody::User(UserEvent::LiteratureChanged { change }) => change,
            EventBody::Placeholder(Placeholder::Empty) => continue,
            other => panic!("nothing else has happened: {other:?}"),
        };
        let change: literature::LibraryChange =
            serde_json::from_str(RawJson::as_str(&change)).expect("a change");
        literature::apply(&mut library, event.position, change);
    }
    library
}

pub async fn stored_library_equals_the_replayed_one(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (first, mut second) = (stream("B"), stream("A"));
    for (change, outcome) in [
        (save_article(TEST_USER, article("11")), Outcome::Done),
        (save_article(TEST_USER, article("12")), Outcome::Done),
        // The same articles again, without new data.
        (save_article(TEST_USER, article("11")), Outcome::Done),
        (set_note("Read this.", &["", "Elsewhere."]), Outcome::DataDeleted),
        (set_note("Read this.", &[]), Outcome::Done),
        (save_stream(TEST_USER, &first), Outcome::Done),
        (save_stream(TEST_USER, &second), Outcome::Done),
        (save_stream(TEST_USER, &second), Outcome::Done),
    ] {
        assert_eq!(commit_one(storage, &change).await, Ok(outcome), "{change:?}");
    }
    assert_eq!(
        commit_one(storage, &save_article(TEST_USER, article("13"))).await,
        Err(ChangeRejection::LibraryFull)
    );
    assert_eq!(
        commit_one(storage, &save_stream(TEST_USER, &stream("C"))).await,
        Err(ChangeRejection::LibraryFull)
    );
    second.name = "Z".into();
    let over = commit_one(storage, &save_stream(TEST_USER, &second)).await;
    assert_eq!(over, Ok(Outcome::DataDeleted));
    let kept = library(storage, TEST_USER).await;
    let mut noted = article("11");
    noted.note = "Read this.".into();
    assert_eq!(kept.articles, [noted.clone(), article("12")]);
    assert_eq!(kept.streams, [first.clone(), second.clone()]);
    assert_eq!(replayed_library(storage, TEST_USER).await, kept);
    let saved = storage.saved_article(TEST_USER, "11").await.unwrap();
    assert_eq!(saved, Some((noted.clone(), Some(vec!["What it says.".into()]))));
    let some = storage
        .saved_articles(TEST_USER, &["11".into(), "13".into()])
        .await;
    assert_eq!(some.unwrap(), [noted]);
    assert_eq!(
        storage
            .saved_articles(other_user(), &["11".into()])
            .await
            .unwrap(),
        []
    );

    let (pmid, stream_id) = ("11".to_owned(), first.id);
    let remove = Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::RemoveArticle { pmid },
    };
    let delete = Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::DeleteResearchStream { stream_id },
    };
    for change in [&remove, &delete, &remove, &delete] {
        assert_eq!(commit_one(storage, change).await, Ok(Outcome::DataDeleted));
    }
    let kept = library(storage, TEST_USER).await;
    assert_eq!(
        (&kept.articles[..], &kept.streams[..]),
        (&[article("12")][..], &[second][..])
    );
    assert_eq!(replayed_library(storage, TEST_USER).await, kept);
    assert_eq!(
        commit_one(storage, &set_note("Gone.", &["Read this."])).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn saving_again_keeps_the_note(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let noted = |words: &str| SavedArticle {
        note: words.into(),
        ..article("11")
    };
    let kept = async || library(storage, TEST_USER).await.articles;
    commit_one(storage, &save_article(TEST_USER, article("11")))
        .await
        .unwrap();
    commit_one(storage, &save_article(TEST_USER, noted("A model's.")))
        .await
        .unwrap();
    assert_eq!(
        kept().await,
        [noted("A model's.")],
        "a note is added where there was none"
    );
    commit_one(storage, &set_note("Ann's own.", &["A model's."]))
        .await
        .unwrap();
    for (words, outcome) in [
        ("A model's.", Outcome::NoteConflict),
        ("Ann's own.", Outcome::Done),
        ("", Outcome::Done),
    ] {
        let again = commit_one(storage, &save_article(TEST_USER, noted(words))).await;
        assert_eq!(again, Ok(outcome));
        assert_eq!(kept().await, [noted("Ann's own.")], "{words}");
    }
}

pub async fn a_note_replaces_only_a_known_note(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    commit_one(storage, &save_article(TEST_USER, article("11")))
        .await
        .unwrap();
    commit_one(storage, &set_note("One.", &[""])).await.unwrap();
    // A page that has not received the change, and a page that has sent it itself.
    let outdated = commit_one(storage, &set_note("Two.", &[""])).await;
    assert_eq!(outdated, Err(ChangeRejection::NoteChanged));
    assert_eq!(library(storage, TEST_USER).await.articles[0].note, "One.");
    let current = commit_one(storage, &set_note("Two.", &["", "One."])).await;
    assert_eq!(current, Ok(Outcome::DataDeleted));
    assert_eq!(library(storage, TEST_USER).await.articles[0].note, "Two.");
}

pub async fn stores_an_abstract_when_it_becomes_known(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let unknown = Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::SaveArticle {
            article: article("11"),
            abstract_text: None,
            limit: 2,
        },
    };
    commit_one(&*storage, &unknown).await.unwrap();
    let abstract_text = async || storage.saved_article(TEST_USER, "11").await.unwrap().unwrap().1;
    assert_eq!(abstract_text().await, None);
    for text in ["What it says.", "Something else."] {
        let known = Change::Library {
            user_id: TEST_USER,
            update: LibraryUpdate::StoreAbstract {
                pmid: "11".into(),
                abstract_text: vec![text.into()],
            },
        };
        commit_one(&*storage, &known).await.unwrap();
        assert_eq!(abstract_text().await, Some(vec!["What it says.".into()]));
    }
    assert_eq!(
        read_log(&*storage, TEST_USER).await.len(),
        1,
        "an abstract is not logged"
    );
}

pub async fn removed_or_replaced_data_leaves_the_log(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let (ours, another) = (stream("Ours"), stream("Another"));
    let instructed = |words: &str| ResearchStream {
        instructions: words.into(),
        ..ours.clone()
    };
    let logged_json = async |user_id| {
        let log = read_log(storage, user_id).await;
        let positions = log.iter().map(|event| event.position.0);
        assert!(positions.eq(1..=log.len() as u64), "no position is missing");
        serde_json::to_string(&log).expect("JSON").to_lowercase()
    };
    commit_one(storage, &save_article(other_user(), article("11")))
        .await
        .unwrap();
    for change in [
        save_article(TEST_USER, article("11")),
        save_article(TEST_USER, article("12")),
        save_stream(TEST_USER, &instructed("private")),
        save_stream(TEST_USER, &another),
        set_note("private", &[""]),
    ] {
        commit_one(storage, &change).await.unwrap();
    }
    assert!(logged_json(TEST_USER).await.contains("private"), "the log had it");
    // Also data overwritten in the transaction that wrote it.
    let over = [
        set_note("private, too", &["private"]),
        set_note("open", &["private, too"]),
        save_stream(TEST_USER, &instructed("private, too")),
        save_stream(TEST_USER, &instructed("open")),
    ];
    storage.commit(NOON, &over).await.unwrap();
    let now = logged_json(TEST_USER).await;
    assert!(!now.contains("private") && now.contains("open"), "{now}");
    assert_eq!(
        replayed_library(storage, TEST_USER).await,
        library(storage, TEST_USER).await
    );

    let (pmid, stream_id) = ("11".to_owned(), ours.id);
    let remove = Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::RemoveArticle { pmid },
    };
    let delete = Change::Library {
        user_id: TEST_USER,
        update: LibraryUpdate::DeleteResearchStream { stream_id },
    };
    storage.commit(NOON, &[remove, delete]).await.unwrap();
    let now = logged_json(TEST_USER).await;
    assert!(!now.contains("open") && !now.contains("about 11"), "{now}");
    assert!(now.contains("about 12") && now.contains("another"), "{now}");
    assert_eq!(
        replayed_library(storage, TEST_USER).await,
        library(storage, TEST_USER).await
    );
    assert!(
        logged_json(other_user()).await.contains("about 11"),
        "the other user's data is kept"
    );
}

pub async fn libraries_are_separate_per_user(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let stream = stream("Anns");
    commit_one(storage, &save_article(TEST_USER, article("11")))
        .await
        .unwrap();
    commit_one(storage, &save_stream(TEST_USER, &stream))
        .await
        .unwrap();
    commit_one(storage, &save_article(other_user(), article("12")))
        .await
        .unwrap();
    assert_eq!(
        commit_one(storage, &save_stream(other_user(), &stream)).await,
        Err(ChangeRejection::NotFound)
    );
    let (pmid, stream_id) = ("11".to_owned(), stream.id);
    let user_id = other_user();
    commit_one(
        storage,
        &Change::Library {
            user_id,
            update: LibraryUpdate::RemoveArticle { pmid },
        },
    )
    .await
    .unwrap();
    commit_one(
        storage,
        &Change::Library {
            user_id,
            update: LibraryUpdate::DeleteResearchStream { stream_id },
        },
    )
    .await
    .unwrap();
    assert_eq!(
        storage.research_stream(other_user(), stream.id).await.unwrap(),
        None
    );
    assert_eq!(storage.saved_article(other_user(), "11").await.unwrap(), None);
    let (anns, bobs) = (
        library(storage, TEST_USER).await,
        library(storage, other_user()).await,
    );
    assert_eq!((anns.articles, anns.streams), (vec![article("11")], vec![stream]));
    assert_eq!((bobs.articles, bobs.streams), (vec![article("12")], vec![]));
}

pub async fn context_snapshot_lives_with_its_message(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let mut turn = new_turn(TEST_USER, conversation_id, "What is this?");
    let snapshot = PageContextSnapshot {
        context: PageContext::for_page("literature"),
        ..PageContextSnapshot::default()
    };
    let Change::Intent {
        change: IntentChange::SendMessage { start, .. },
        ..
    } = &mut turn.change
    else {
        panic!("it is sent")
    };
    start.context_snapshot = Some(Box::new(snapshot.clone()));
    commit_one(&*storage, &turn.change).await.unwrap();
    let of = |user_id| storage.context_snapshot(user_id, turn.user_message_id);
    assert_eq!(of(TEST_USER).await.unwrap(), Some(snapshot.clone()));
    // The page's description is added later, once.
    for text in ["An article.", "Another one."] {
        let keep = Change::Run(RunChange::StoreContextSnapshot {
            run: turn.run,
            text: text.into(),
            instructions: "Be quick.".into(),
        });
        commit_one(&*storage, &keep).await.unwrap();
    }
    let known = PageContextSnapshot {
        text: "An article.".into(),
        instructions: "Be quick.".into(),
        ..snapshot
    };
    assert_eq!(of(TEST_USER).await.unwrap(), Some(known));
    assert_eq!(of(other_user()).await.unwrap(), None);
    assert_eq!(
        storage
            .context_snapshot(TEST_USER, turn.run.message_id)
            .await
            .unwrap(),
        None
    );
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(of(TEST_USER).await.unwrap(), None);
}
