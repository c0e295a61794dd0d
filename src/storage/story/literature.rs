//! What a person keeps of the literature, and what they looked at.

use super::*;
use crate::protocol::{
    Json, PageContext, StreamId,
    literature::{self, Article, Library, ResearchStream, SavedArticle},
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

fn save(user_id: UserId, article: SavedArticle) -> Change {
    Change::SaveArticle {
        user_id,
        article,
        summary: Some(vec!["What it says.".into()]),
        limit: 2,
    }
}

fn keep(user_id: UserId, stream: &ResearchStream) -> Change {
    Change::KeepStream {
        user_id,
        stream: stream.clone(),
        limit: 2,
    }
}

fn stream(name: &str) -> ResearchStream {
    ResearchStream {
        id: StreamId::new(),
        name: name.into(),
        query: "water".into(),
        instructions: "Mind the methods.".into(),
    }
}

async fn library(storage: &dyn Storage, user_id: UserId) -> Library {
    storage.library(user_id).await.expect("storage works")
}

fn note(note: &str, replaces: &[&str]) -> Change {
    Change::NoteArticle {
        user_id: ANN,
        pmid: "11".into(),
        note: note.into(),
        replaces: replaces.iter().map(|note| (*note).to_owned()).collect(),
    }
}

/// The library that the log's events make.
async fn replayed(storage: &dyn Storage, user_id: UserId) -> Library {
    let mut library = Library::default();
    for event in log(storage, user_id).await {
        assert_eq!(event.conversation_id, ConversationId::NONE);
        let change = match event.body {
            EventBody::LiteratureChanged { change } => change,
            EventBody::Empty => continue,
            other => panic!("nothing else has happened: {other:?}"),
        };
        let change: literature::Change = serde_json::from_str(Json::as_str(&change)).expect("a change");
        literature::apply(&mut library, event.position, change);
    }
    library
}

#[tokio::test]
async fn what_is_kept_is_what_the_log_tells() {
    let (_folder, storage) = sqlite().await;
    let storage = &*storage;
    let (first, mut second) = (stream("B"), stream("A"));
    for (change, outcome) in [
        (save(ANN, article("11")), Outcome::Done),
        (save(ANN, article("12")), Outcome::Done),
        // Again, with nothing new.
        (save(ANN, article("11")), Outcome::Done),
        (note("Read this.", &["", "Elsewhere."]), Outcome::Forgotten),
        (note("Read this.", &[]), Outcome::Done),
        (keep(ANN, &first), Outcome::Done),
        (keep(ANN, &second), Outcome::Done),
        (keep(ANN, &second), Outcome::Done),
    ] {
        assert_eq!(do_one(storage, &change).await, Ok(outcome), "{change:?}");
    }
    assert_eq!(
        do_one(storage, &save(ANN, article("13"))).await,
        Err(Refusal::LibraryFull)
    );
    assert_eq!(
        do_one(storage, &keep(ANN, &stream("C"))).await,
        Err(Refusal::LibraryFull)
    );
    second.name = "Z".into();
    let over = do_one(storage, &keep(ANN, &second)).await;
    assert_eq!(over, Ok(Outcome::Forgotten));
    let kept = library(storage, ANN).await;
    let mut noted = article("11");
    noted.note = "Read this.".into();
    assert_eq!(kept.articles, [noted.clone(), article("12")]);
    assert_eq!(kept.streams, [first.clone(), second.clone()]);
    assert_eq!(replayed(storage, ANN).await, kept);
    let whole = storage.saved_article(ANN, "11").await.unwrap();
    assert_eq!(whole, Some((noted.clone(), Some(vec!["What it says.".into()]))));
    let some = storage.saved_articles(ANN, &["11".into(), "13".into()]).await;
    assert_eq!(some.unwrap(), [noted]);
    assert_eq!(storage.saved_articles(bob(), &["11".into()]).await.unwrap(), []);

    let (pmid, stream_id) = ("11".to_owned(), first.id);
    let remove = Change::RemoveArticle { user_id: ANN, pmid };
    let delete = Change::DeleteStream {
        user_id: ANN,
        stream_id,
    };
    for change in [&remove, &delete, &remove, &delete] {
        assert_eq!(do_one(storage, change).await, Ok(Outcome::Forgotten));
    }
    let kept = library(storage, ANN).await;
    assert_eq!(
        (&kept.articles[..], &kept.streams[..]),
        (&[article("12")][..], &[second][..])
    );
    assert_eq!(replayed(storage, ANN).await, kept);
    assert_eq!(
        do_one(storage, &note("Gone.", &["Read this."])).await,
        Err(Refusal::NotFound)
    );
}

#[tokio::test]
async fn a_note_is_never_written_over_by_saving_once_more() {
    let (_folder, storage) = sqlite().await;
    let storage = &*storage;
    let noted = |words: &str| SavedArticle {
        note: words.into(),
        ..article("11")
    };
    let kept = async || library(storage, ANN).await.articles;
    do_one(storage, &save(ANN, article("11"))).await.unwrap();
    do_one(storage, &save(ANN, noted("A model's."))).await.unwrap();
    assert_eq!(kept().await, [noted("A model's.")], "there was none");
    do_one(storage, &note("Ann's own.", &["A model's."]))
        .await
        .unwrap();
    for (words, outcome) in [
        ("A model's.", Outcome::NotedOtherwise),
        ("Ann's own.", Outcome::Done),
        ("", Outcome::Done),
    ] {
        let again = do_one(storage, &save(ANN, noted(words))).await;
        assert_eq!(again, Ok(outcome));
        assert_eq!(kept().await, [noted("Ann's own.")], "{words}");
    }
}

#[tokio::test]
async fn a_note_replaces_only_what_its_page_has_heard_of() {
    let (_folder, storage) = sqlite().await;
    let storage = &*storage;
    do_one(storage, &save(ANN, article("11"))).await.unwrap();
    do_one(storage, &note("One.", &[""])).await.unwrap();
    // A page that has not heard of it, and one that has sent it itself.
    let unheard = do_one(storage, &note("Two.", &[""])).await;
    assert_eq!(unheard, Err(Refusal::NoteChanged));
    assert_eq!(library(storage, ANN).await.articles[0].note, "One.");
    let heard = do_one(storage, &note("Two.", &["", "One."])).await;
    assert_eq!(heard, Ok(Outcome::Forgotten));
    assert_eq!(library(storage, ANN).await.articles[0].note, "Two.");
}

#[tokio::test]
async fn an_abstract_that_is_not_known_is_kept_once_it_is() {
    let (_folder, storage) = sqlite().await;
    let unknown = Change::SaveArticle {
        user_id: ANN,
        article: article("11"),
        summary: None,
        limit: 2,
    };
    do_one(&*storage, &unknown).await.unwrap();
    let summary = async || storage.saved_article(ANN, "11").await.unwrap().unwrap().1;
    assert_eq!(summary().await, None);
    for said in ["What it says.", "Something else."] {
        let known = Change::KeepSummary {
            user_id: ANN,
            pmid: "11".into(),
            summary: vec![said.into()],
        };
        do_one(&*storage, &known).await.unwrap();
        assert_eq!(summary().await, Some(vec!["What it says.".into()]));
    }
    assert_eq!(log(&*storage, ANN).await.len(), 1, "no list shows it");
}

#[tokio::test]
async fn what_is_removed_or_written_over_is_in_the_log_no_more() {
    let (_folder, storage) = sqlite().await;
    let storage = &*storage;
    let (ours, another) = (stream("Ours"), stream("Another"));
    let instructed = |words: &str| ResearchStream {
        instructions: words.into(),
        ..ours.clone()
    };
    let said = async |user_id| {
        let log = log(storage, user_id).await;
        let positions = log.iter().map(|event| event.position.0);
        assert!(positions.eq(1..=log.len() as u64), "no position is missing");
        serde_json::to_string(&log).expect("JSON").to_lowercase()
    };
    do_one(storage, &save(bob(), article("11"))).await.unwrap();
    for change in [
        save(ANN, article("11")),
        save(ANN, article("12")),
        keep(ANN, &instructed("private")),
        keep(ANN, &another),
        note("private", &[""]),
    ] {
        do_one(storage, &change).await.unwrap();
    }
    assert!(said(ANN).await.contains("private"), "it was there");
    // What is written over in the transaction that wrote it, too.
    let over = [
        note("private, too", &["private"]),
        note("open", &["private, too"]),
        keep(ANN, &instructed("private, too")),
        keep(ANN, &instructed("open")),
    ];
    storage.commit(NOON, &over).await.unwrap();
    let now = said(ANN).await;
    assert!(!now.contains("private") && now.contains("open"), "{now}");
    assert_eq!(replayed(storage, ANN).await, library(storage, ANN).await);

    let (pmid, stream_id) = ("11".to_owned(), ours.id);
    let remove = Change::RemoveArticle { user_id: ANN, pmid };
    let delete = Change::DeleteStream {
        user_id: ANN,
        stream_id,
    };
    storage.commit(NOON, &[remove, delete]).await.unwrap();
    let now = said(ANN).await;
    assert!(!now.contains("open") && !now.contains("about 11"), "{now}");
    assert!(now.contains("about 12") && now.contains("another"), "{now}");
    assert_eq!(replayed(storage, ANN).await, library(storage, ANN).await);
    assert!(said(bob()).await.contains("about 11"), "what is Bob's stays");
}

#[tokio::test]
async fn what_one_person_keeps_is_nothing_to_another() {
    let (_folder, storage) = sqlite().await;
    let storage = &*storage;
    let stream = stream("Anns");
    do_one(storage, &save(ANN, article("11"))).await.unwrap();
    do_one(storage, &keep(ANN, &stream)).await.unwrap();
    do_one(storage, &save(bob(), article("12"))).await.unwrap();
    assert_eq!(
        do_one(storage, &keep(bob(), &stream)).await,
        Err(Refusal::NotFound)
    );
    let (pmid, stream_id) = ("11".to_owned(), stream.id);
    let user_id = bob();
    do_one(storage, &Change::RemoveArticle { user_id, pmid })
        .await
        .unwrap();
    do_one(storage, &Change::DeleteStream { user_id, stream_id })
        .await
        .unwrap();
    assert_eq!(storage.stream(bob(), stream.id).await.unwrap(), None);
    assert_eq!(storage.saved_article(bob(), "11").await.unwrap(), None);
    let (anns, bobs) = (library(storage, ANN).await, library(storage, bob()).await);
    assert_eq!((anns.articles, anns.streams), (vec![article("11")], vec![stream]));
    assert_eq!((bobs.articles, bobs.streams), (vec![article("12")], vec![]));
}

#[tokio::test]
async fn what_a_person_looked_at_is_kept_with_their_message_and_goes_with_it() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let mut turn = turn(ANN, conversation_id, "What is this?");
    let looking = Looking {
        context: PageContext::of("literature"),
        ..Looking::default()
    };
    let Change::Send { start, .. } = &mut turn.change else {
        panic!("it is sent")
    };
    start.looking = Some(Box::new(looking.clone()));
    do_one(&*storage, &turn.change).await.unwrap();
    let of = |user_id| storage.looking(user_id, turn.user_message_id);
    assert_eq!(of(ANN).await.unwrap(), Some(looking.clone()));
    // What was there is added later, once.
    for text in ["An article.", "Another one."] {
        let keep = Change::KeepLooking {
            run: turn.run,
            text: text.into(),
            instructions: "Be quick.".into(),
        };
        do_one(&*storage, &keep).await.unwrap();
    }
    let known = Looking {
        text: "An article.".into(),
        instructions: "Be quick.".into(),
        ..looking
    };
    assert_eq!(of(ANN).await.unwrap(), Some(known));
    assert_eq!(of(bob()).await.unwrap(), None);
    assert_eq!(storage.looking(ANN, turn.run.message_id).await.unwrap(), None);
    let delete = Change::Delete {
        user_id: ANN,
        conversation_id,
    };
    do_one(&*storage, &delete).await.unwrap();
    assert_eq!(of(ANN).await.unwrap(), None);
}
