//! The memory of nodes: a change at one of them counts at the others.

use tokio::time::timeout;

use super::*;
use crate::{
    accounts::{Browser, with_passwords},
    support::TEST_TIMEOUT,
};

#[tokio::test]
async fn signing_out_ends_the_streams_of_all_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let is_node = node_of(folder.path()).await;
    let start = || {
        Parlor::start_with(folder.path(), &upstream, |settings| {
            with_passwords(settings);
            is_node(settings);
        })
    };
    let first = start().await;
    let mut ann = Browser::new(&first);
    ann.set_up(&first, "ann").await;
    let second = start().await;
    let there = ann.at(&second);
    let mut stream = there.get("/rpc/events").send().await.unwrap();
    assert_eq!(stream.status(), 200, "one session for all nodes");
    assert!(stream.chunk().await.unwrap().is_some(), "a heartbeat");
    ann.submit("/sign-out", &[]).await;
    let end = async { while stream.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
    timeout(TEST_TIMEOUT, end).await.expect("the stream ends");
}

#[tokio::test]
async fn an_added_model_server_is_offered_by_all_nodes() {
    let pair = Pair::start().await;
    let mut log = pair.second.follow("/api/events").await;
    let new = json!({
        "id": uuid::Uuid::now_v7(), "name": "mine", "kind": "openai", "base_url": pair.upstream.url(), "models": ["a"],
    });
    let added = pair.first.post("/api/endpoints", &new).send().await.unwrap();
    assert_eq!(added.status(), 201);
    log.next_of_type("models_changed").await;
    let (_, list) = pair.second.get_json("/api/models").await;
    let models = list["models"].as_array().unwrap();
    assert!(models.iter().any(|model| model["id"] == "mine/a"), "{list}");
}
