//! The keys of shares: only the right one opens a share, and any other one is answered as if nothing was there.

use serde_json::json;
use upstream::Script;
use uuid::Uuid;

use super::{Share, page, read_shared};
use crate::support::{Parlor, parlor_answering, read_json, string_field};

/// Returns the answers of all URLs of a key, without what differs from page to page.
async fn answers(parlor: &Parlor, key: &str) -> Vec<(u16, String)> {
    let reader = reqwest::Client::new();
    let mut answers = Vec::new();
    for rest in [
        "/events?after=0".to_owned(),
        format!("/files/{}", Uuid::nil()),
        "/payloads/p1/file".to_owned(),
    ] {
        let response = reader
            .get(format!("{}/shared/{key}{rest}", parlor.url))
            .send()
            .await
            .unwrap();
        let is_stream = response.headers()["content-type"] == "text/event-stream";
        let status = response.status().as_u16();
        let body = if is_stream {
            String::new()
        } else {
            response.text().await.unwrap()
        };
        answers.push((status, body));
    }
    let (status, shown) = page(parlor, &reader, &format!("/shared/{key}")).await;
    let main = shown.split("<main").nth(1).unwrap_or_default();
    let main = main.split("</main>").next().unwrap_or_default();
    answers.push((
        status,
        if status == 200 {
            String::new()
        } else {
            main.to_owned()
        },
    ));
    let (status, body) = read_shared(parlor, &reader, key).await;
    answers.push((
        status,
        if status == 200 {
            String::new()
        } else {
            body.to_string()
        },
    ));
    answers
}

#[tokio::test]
async fn only_the_right_key_opens_a_share() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let ended = Share::create(&parlor, &conversation, None, true).await;
    let key = share.key().to_owned();
    assert_eq!(key.len(), 64, "256 bits");
    let statuses = |answers: &[(u16, String)]| answers.iter().map(|(status, _)| *status).collect::<Vec<_>>();
    // There is no such file and no such payload.
    assert_eq!(statuses(&answers(&parlor, &key).await), [200, 404, 404, 200, 200]);
    assert_eq!(
        statuses(&answers(&parlor, ended.key()).await),
        [200, 404, 404, 200, 200]
    );
    ended.end(&parlor).await;

    let wrong = answers(&parlor, &"0".repeat(64)).await;
    assert_eq!(statuses(&wrong), [404; 5]);
    let (first, rest) = key.split_at(1);
    let encoded = format!("%{:02x}{rest}", first.as_bytes()[0]);
    for other in [
        ended.key(),
        &key[1..],
        &format!("{key}0"),
        &key.to_uppercase(),
        &encoded,
        &share.id,
        &conversation,
        &Uuid::now_v7().to_string(),
        "x",
    ] {
        if other == key {
            continue;
        }
        assert_eq!(answers(&parlor, other).await, wrong, "{other}");
    }
    // The key still does.
    assert_eq!(answers(&parlor, &key).await[3].0, 200);
}

#[tokio::test]
async fn a_share_tells_nobody_its_url() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, false).await;
    for path in [
        share.path.clone(),
        "/shared/x".to_owned(),
        format!("{}/events", share.path),
    ] {
        let response = parlor.get(&path).send().await.unwrap();
        let headers = response.headers();
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert_eq!(headers["x-robots-tag"], "noindex, nofollow", "{path}");
        assert!(headers.contains_key("content-security-policy"), "{path}");
    }
    // The list of shares has no secret, and nothing else has: it is shown once.
    let listed = read_json(parlor.get("/rpc/shares").send().await.unwrap()).await;
    assert_eq!(listed[0]["id"], share.id);
    assert!(!listed.to_string().contains(share.key()));
    let log = parlor
        .get(&format!("/api/conversations/{conversation}"))
        .send()
        .await
        .unwrap();
    assert!(!log.text().await.unwrap().contains(share.key()));
}

#[tokio::test]
async fn shares_are_limited_and_links_switchable() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = upstream::Upstream::start().await;
    upstream.add_script(upstream::When::any(), Script::new().text("Yes."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| settings.sharing.shares = 1).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, false).await;
    let request = json!({ "conversation_id": conversation, "readers": null, "is_live": false });
    let refused = parlor.post("/rpc/create_share", &request).send().await.unwrap();
    assert_eq!(refused.status(), 413);
    // Without accounts there is nobody to name.
    let by_name = json!({ "conversation_id": conversation, "readers": ["ann"], "is_live": false });
    let refused = parlor.post("/rpc/create_share", &by_name).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    assert_eq!(answers(&parlor, share.key()).await[3].0, 200);
    let choices = async |parlor: &Parlor| {
        let shown = page(parlor, &parlor.client, "/").await.1;
        ["data-share-links", "data-share-people"].map(|name| shown.contains(name))
    };
    assert_eq!(choices(&parlor).await, [true, false]);
    parlor.stop().await;

    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.sharing.links = false
    })
    .await;
    assert_eq!(answers(&parlor, share.key()).await[3].0, 404);
    assert_eq!(choices(&parlor).await, [false, false]);
    let refused = parlor.post("/rpc/create_share", &request).send().await.unwrap();
    assert_eq!(refused.status(), 403);
}
