use std::time::Duration;

use serde_json::json;
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;
use tokio::{task::yield_now, time::timeout};
use upstream::{Page, Upstream};

use super::*;
use parlor_journal::hub::Hub;
use parlor_storage::sqlite::{DATABASE_FILE_NAME, SqliteStorage};
use parlor_web::services::{ServiceError, ServiceErrorKind};

const TEST_TIMEOUT: Duration = Duration::from_secs(20);
const ABSTRACT: &str =
    "<PubmedArticle><PMID>11</PMID><Abstract><AbstractText>Wet.</AbstractText></Abstract></PubmedArticle>";

/// Starts a literature whose PubMed is a scripted server with one article.
async fn literature(abstracts: Page) -> (TempDir, Upstream, SqliteStorage, Literature) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let article = json!({ "title": "Water", "source": "J Water", "pubdate": "2024" });
    let summaries = json!({ "result": { "uids": ["11"], "11": article } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&summaries));
    upstream.add_page("/eutils/efetch.fcgi", abstracts);
    let pubmed = PubmedClient::new(&settings::PubmedSettings {
        base_url: upstream.url_of("/eutils/"),
        ..Default::default()
    });
    let sqlite = SqliteStorage::open(folder.path()).await.unwrap();
    let storage: Arc<dyn Storage> = Arc::new(sqlite.clone());
    let (journal, _running) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let settings = settings::LiteratureSettings::default();
    let pubmed = pubmed.map(Arc::new).ok_or(PubmedUnavailable::NoCertificates);
    let literature = Literature::new(pubmed, storage, journal, &settings);
    (folder, upstream, sqlite, literature)
}

async fn wait_until(what: &str, condition: impl AsyncFn() -> bool) {
    let waited = timeout(TEST_TIMEOUT, async {
        while !condition().await {
            yield_now().await;
        }
    });
    assert!(waited.await.is_ok(), "{what}");
}

#[tokio::test]
async fn saved_article_is_never_reported_as_unsaved() {
    let (folder, upstream, storage, literature) = literature(Page::text(ABSTRACT)).await;
    // Another connection locks the database, so that nothing can be saved yet.
    let other = SqliteConnectOptions::new().filename(folder.path().join(DATABASE_FILE_NAME));
    let mut other = other.connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let saving = tokio::spawn(async move { literature.save(UserId::LOCAL, "11", " Read it. ", None).await });
    wait_until("the article is read", async || upstream.requests().len() == 1).await;
    // From here on, reads fail. Then the article is saved.
    storage.close_readers().await;
    assert!(storage.last_position(UserId::LOCAL).await.is_err());
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    let saved = saving.await.unwrap().expect("it is saved");
    assert_eq!((&*saved.article.title, saved.has_note_conflict), ("Water", false));
    let kept: String = sqlx::query_scalar("SELECT note FROM articles")
        .fetch_one(&mut other)
        .await
        .unwrap();
    assert_eq!(kept, "Read it.");
    other.close().await.unwrap();
}

#[tokio::test]
async fn saving_again_keeps_the_note() {
    let (_folder, _upstream, _storage, literature) = literature(Page::text(ABSTRACT)).await;
    let save = async |note: &str| literature.save(UserId::LOCAL, "11", note, None).await.unwrap();
    let kept = async || {
        literature
            .library(UserId::LOCAL)
            .await
            .unwrap()
            .articles
            .remove(0)
    };
    assert!(!save("").await.has_note_conflict);
    let first = kept().await;
    assert!(!save("The first word").await.has_note_conflict);
    let second = kept().await;
    assert_eq!(
        (&*second.note, second.saved_at),
        ("The first word", first.saved_at)
    );
    assert!(save("Another").await.has_note_conflict);
    assert!(!save("").await.has_note_conflict);
    assert_eq!(kept().await, second);
}

#[tokio::test]
async fn second_of_two_concurrent_notes_is_reported() {
    let (_folder, _upstream, _storage, literature) = literature(Page::text(ABSTRACT)).await;
    let save = |note| literature.save(UserId::LOCAL, "11", note, None);
    let (one, two) = tokio::join!(save("One"), save("Two"));
    let are_left_out = [one, two].map(|kept| kept.unwrap().has_note_conflict);
    assert_eq!(are_left_out.iter().filter(|is_left_out| **is_left_out).count(), 1);
}

#[tokio::test]
async fn user_errors_advise_the_user() {
    let ill = Page::text("").status(500).header("retry-after", "0");
    let (_folder, _upstream, _storage, literature) = literature(ill).await;
    let article = literature.full_article(UserId::LOCAL, "11", "").await.unwrap();
    assert_eq!(
        article.problem.as_deref(),
        Some(
            "PubMed failed (500 Internal Server Error). Try again in a minute. If it does not help, the server's log has \
             the details."
        )
    );
    let crowded = ServiceError {
        name: "PubMed",
        kind: ServiceErrorKind::QueueFull,
    };
    assert_eq!(
        LiteratureError::from(crowded).user_message(),
        "PubMed is asked too much from here: too many requests wait for their turn already. Try again in a minute."
    );
}

#[test]
fn only_searches_and_articles_ask_pubmed() {
    assert!(page::asks_pubmed("/literature", true));
    assert!(page::asks_pubmed("/literature/articles/11", false));
    assert!(!page::asks_pubmed("/literature", false));
    let pages = crate::Pages::new(200);
    assert!(
        !pages.asks_other_hosts("/c/1", true),
        "a conversation with a query is not a search"
    );
}
