//! The limits of nodes: what a user or an address has used at one of them counts at the others. And what the first account needs.

use reqwest::header::HOST;
use tokio::time::timeout;

use super::*;
use crate::{
    accounts::{Browser, with_passwords},
    support::TEST_TIMEOUT,
};

/// Starts two nodes with accounts, and the first account.
async fn start(change: impl Fn(&mut Settings)) -> (Pair, Browser) {
    let pair = Pair::start_set(|settings| {
        with_passwords(settings);
        change(settings);
    })
    .await;
    let mut ann = Browser::new(&pair.first);
    ann.set_up(&pair.first, "ann").await;
    (pair, ann)
}

/// Asks until the answer is yes.
async fn until(mut ask: impl AsyncFnMut() -> bool) {
    let asking = async { while !ask().await {} };
    timeout(TEST_TIMEOUT, asking).await.expect("it becomes true");
}

#[tokio::test]
async fn failed_sign_ins_count_at_all_nodes() {
    let (pair, _) = start(|settings| settings.accounts.sign_in_attempts = 4).await;
    let attempt = async |parlor: &Parlor| {
        let wrong = [("name", "nobody"), ("password", "a wrong password")];
        Browser::new(parlor).submit("/sign-in", &wrong).await.status()
    };
    let mut refused = 0;
    // Each node for itself would refuse none of its four.
    for node in [&pair.first, &pair.second].into_iter().cycle().take(8) {
        match attempt(node).await.as_u16() {
            401 => {}
            429 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert!(refused > 0, "each node counts for itself");
}

#[tokio::test]
async fn requests_count_at_all_nodes() {
    const LIMIT: usize = 40;
    let (pair, ann) = start(|settings| settings.accounts.requests_per_minute = LIMIT).await;
    let there = ann.at(&pair.second);
    let mut answered = 0;
    for browser in [&ann, &there].into_iter().cycle().take(2 * LIMIT) {
        let response = browser.get("/rpc/models").send().await.unwrap();
        match response.status().as_u16() {
            429 => {
                assert!(response.headers().contains_key("retry-after"));
                break;
            }
            _ => answered += 1,
        }
    }
    // Some become possible meanwhile.
    assert!((LIMIT / 2..LIMIT * 7 / 4).contains(&answered), "{answered}");
}

#[tokio::test]
async fn the_check_that_a_node_lives_does_not_ask_the_database() {
    let (pair, _) = start(|_| {}).await;
    let mut database = pair.database().await;
    // Nothing else of the two nodes changes limits.
    let emptied = sqlx::query("DELETE FROM limits").execute(&mut database).await;
    emptied.unwrap();
    let alive = pair.first.get("/healthz").send().await.unwrap();
    assert_eq!(alive.status(), 200);
    let mut counted = async || {
        let count = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM limits");
        count.fetch_one(&mut database).await.unwrap()
    };
    assert_eq!(counted().await, 0);
    // As other requests do.
    pair.first.get("/sign-in").send().await.unwrap();
    assert_eq!(counted().await, 1);
}

#[tokio::test]
async fn answers_at_the_same_time_count_at_all_nodes() {
    let pair = Pair::start_set(|settings| settings.accounts.runs = Some(1)).await;
    let (first, second, upstream) = (&pair.first, &pair.second, &pair.upstream);
    upstream.add_script(When::any(), Script::new().text("One").gate("go"));
    let mut turn = first.chat(&message("Count")).await;
    turn.next_of_type("text_delta").await;
    let refused = second
        .post("/api/chat/stream", &message("Again"))
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 429);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["code"], "limit_reached", "{problem}");
    upstream.open_gate("go");
    turn.read_to_end().await;
    let next = second.chat(&message("Again")).await.read_to_end().await;
    assert_eq!(event_types(&next).last().copied(), Some("complete"));
}

#[tokio::test]
async fn the_first_account_is_made_at_any_node() {
    const NAME: &str = "chat.example";
    let pair = Pair::start_set(with_passwords).await;
    let (first, second) = (&pair.first, &pair.second);
    // The link that the first node has printed leads through the proxy to the second.
    let token = first.setup_token.clone().unwrap();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let form = format!("token={token}&name=ann&password=a+long+password&again=a+long+password");
    let made = client
        .post(format!("{}/setup", second.url))
        .header(HOST, NAME)
        .header("origin", format!("http://{NAME}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form)
        .send();
    assert_eq!(made.await.unwrap().status(), 303);
    let status = async |parlor: &Parlor, host: &str| {
        let page = client.get(format!("{}/sign-in", parlor.url)).header(HOST, host);
        page.send().await.unwrap().status().as_u16()
    };
    for node in [first, second] {
        until(async || status(node, NAME).await == 200).await;
        assert_eq!(status(node, "evil.example").await, 403);
    }
    // Nobody is waited for any more, so no other name opens the setup.
    let setup = || {
        client
            .get(format!("{}/setup", first.url))
            .header(HOST, "evil.example")
    };
    until(async || setup().send().await.unwrap().status() == 403).await;
}
