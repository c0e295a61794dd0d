//! Sessions: their list, their end, and the end of streams with them.

use tokio::time::timeout;

use super::{AT_ONCE, Browser, PASSWORD, Team};
use crate::support::TEST_TIMEOUT;

/// Opens a stream and waits until it has begun.
async fn open_stream(browser: &Browser) -> reqwest::Response {
    let mut stream = browser.get("/rpc/events").send().await.unwrap();
    assert_eq!(stream.status(), 200);
    assert!(stream.chunk().await.unwrap().is_some(), "a heartbeat");
    stream
}

async fn expect_end(mut stream: reqwest::Response) {
    let end = async { while stream.chunk().await.is_ok_and(|chunk| chunk.is_some()) {} };
    timeout(TEST_TIMEOUT, end).await.expect("the stream ends");
}

#[tokio::test]
async fn signing_out_ends_streams() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let stream = open_stream(&ann).await;
    let before = ann.clone();
    let signed_out = ann.submit("/sign-out", &[]).await;
    assert_eq!(signed_out.headers()["location"], "/sign-in");
    expect_end(stream).await;
    assert_eq!(before.status().await, 401, "the cookie is worthless");
}

#[tokio::test]
async fn a_session_can_be_ended_elsewhere() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut phone = team.browser();
    phone.sign_in_remembered("ann").await;
    let stream = open_stream(&phone).await;
    let page = ann.page("/settings/devices").await;
    assert_eq!(page.matches("name=\"session\"").count(), 2);
    assert!(page.contains("This device") && page.contains("127.0.0.1"));
    // The newest is first.
    let (_, id) = page.split_once("name=\"session\" value=\"").unwrap();
    let id = id.split('"').next().unwrap();
    let mut ben = ann.invite(&team.parlor, "ben").await;
    let refused = ben.submit("/settings/devices/end", &[("session", id)]).await;
    assert_eq!(
        (refused.status().as_u16(), phone.status().await),
        (404, 200),
        "not by others"
    );
    assert_eq!(
        ann.submit("/settings/devices/end", &[("session", id)])
            .await
            .status(),
        303
    );
    expect_end(stream).await;
    assert_eq!((ann.status().await, phone.status().await), (200, 401));
}

#[tokio::test]
async fn signing_out_everywhere_ends_all_sessions() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut phone = team.browser();
    phone.sign_in("ann", PASSWORD).await;
    let stream = open_stream(&phone).await;
    let before = ann.clone();
    assert_eq!(ann.submit("/settings/devices/end-all", &[]).await.status(), 303);
    expect_end(stream).await;
    assert_eq!((before.status().await, phone.status().await), (401, 401));
}

#[tokio::test]
async fn changing_the_password_keeps_only_this_session() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut phone = team.browser();
    phone.sign_in("ann", PASSWORD).await;
    let new = "another long password";
    let change = |old, password, again| [("old", old), ("password", password), ("again", again)];
    for (fields, status) in [
        (change("a wrong password", new, new), 403),
        (change(PASSWORD, new, PASSWORD), 400),
        (change(PASSWORD, "short", "short"), 400),
    ] {
        assert_eq!(
            ann.submit("/settings/account/password", &fields).await.status(),
            status
        );
    }
    assert_eq!(phone.status().await, 200);
    assert_eq!(
        ann.submit("/settings/account/password", &change(PASSWORD, new, new))
            .await
            .status(),
        303
    );
    assert_eq!((ann.status().await, phone.status().await), (200, 401));
    assert_eq!(phone.sign_in("ann", PASSWORD).await.status(), 401);
    assert_eq!(phone.sign_in("ann", new).await.status(), 303);
}

#[tokio::test]
async fn an_expired_session_is_not_signed_in() {
    let team = Team::start(|settings| settings.accounts.session_lifetime = AT_ONCE).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    ann.wait_until_expired().await;
    let problem = ann.page("/rpc/models").await;
    assert!(problem.contains("\"signed_out\""), "{problem}");
    ann.sign_in_remembered("ann").await;
    assert_eq!(ann.status().await, 200);
}

#[tokio::test]
async fn a_stream_ends_when_its_session_expires() {
    let team = Team::start(|settings| {
        settings.accounts.session_lifetime = std::time::Duration::from_millis(500);
    })
    .await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    // On a busy machine the session may have expired before the stream begins.
    let begun = async {
        loop {
            let stream = ann.get("/rpc/events").send().await.unwrap();
            if stream.status() == 200 {
                return stream;
            }
            ann.sign_in("ann", PASSWORD).await;
        }
    };
    let stream = timeout(TEST_TIMEOUT, begun).await.expect("a stream begins");
    expect_end(stream).await;
}
