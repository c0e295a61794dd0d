//! The data of the last version without accounts, which become those of the first account.

use serde_json::Value;
use upstream::Upstream;

use super::{Browser, PASSWORD};
use crate::{
    releases,
    support::{Parlor, last_model_call},
};

const DATABASE: &str = include_str!("../../fixtures/releases/without-accounts.sql");

/// The token of the API in these data.
const TOKEN: &str = "parlor_532c9293e0ec528cdfac15ca8463423952d0afda3884a1236c45a8cccd81266c";

/// Returns the titles in a list of conversations.
fn titles(list: &Value) -> Vec<&str> {
    let conversations = list["conversations"].as_array().unwrap();
    conversations
        .iter()
        .map(|one| one["title"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn data_of_the_version_before_accounts_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    releases::restore(DATABASE, folder.path()).await;

    let upstream = Upstream::start().await;
    let mut parlor = Parlor::start_with(folder.path(), &upstream, super::with_passwords).await;
    let mut ann = Browser::new(&parlor);
    let token = parlor.setup_token.clone().unwrap();
    let fields = [
        ("token", token.as_str()),
        ("name", "ann"),
        ("password", PASSWORD),
        ("again", PASSWORD),
        ("keep", "yes"),
    ];
    assert_eq!(ann.submit("/setup", &fields).await.status(), 303);
    let stranger = parlor.client.clone();
    parlor.client = ann.signed_in_client();

    let (status, list) = parlor.get_json("/api/conversations").await;
    assert_eq!(
        (status, titles(&list)),
        (200, vec!["A title of my own", "Remember that I like tea"])
    );
    let conversation = list["conversations"][1]["id"].as_str().unwrap();
    let transcript = parlor.transcript(conversation).await.to_string();
    for kept in [
        "I will remember it.",
        "The user likes tea.",
        "Show the longest rivers",
        "Rivers",
    ] {
        assert!(transcript.contains(kept), "{kept}: {transcript}");
    }
    let (_, personal) = parlor.get_json("/rpc/personal").await;
    assert_eq!(personal["instructions"], "Answer in short sentences.");
    assert_eq!(personal["memories"][0]["text"], "The user likes tea.");
    // A program goes on with its token, and nobody else gets in.
    let program = stranger.get(format!("{}/api/conversations", parlor.url));
    let without = program.try_clone().unwrap().send().await.unwrap();
    assert_eq!(without.status(), 401);
    assert_eq!(program.bearer_auth(TOKEN).send().await.unwrap().status(), 200);
    // The conversation goes on, with all of its history.
    parlor.turn(Some(conversation), "And now?").await;
    let sent = last_model_call(&upstream).to_string();
    assert!(
        sent.contains("Remember that I like tea") && sent.contains("Show the longest rivers"),
        "{sent}"
    );
}

/// The server can be killed between any two migrations; each is a transaction.
#[tokio::test]
async fn start_goes_on_after_a_kill_between_two_migrations() {
    let upstream = Upstream::start().await;
    let folder = tempfile::tempdir().unwrap();
    releases::restore(DATABASE, folder.path()).await;
    let newer = releases::newer_migrations(folder.path()).await;
    assert!(newer.len() > 10, "{newer:?}");
    for last in newer {
        let folder = tempfile::tempdir().unwrap();
        releases::restore(DATABASE, folder.path()).await;
        releases::migrate_until(folder.path(), last).await;
        let parlor = Parlor::start(folder.path(), &upstream).await;
        let (status, list) = parlor.get_json("/api/conversations").await;
        let kept = vec!["A title of my own", "Remember that I like tea"];
        assert_eq!((status, titles(&list)), (200, kept), "after migration {last}");
        parlor.stop().await;
    }
}
