//! The limits of attempts and requests.

use reqwest::Response;

use super::{PASSWORD, Team};

/// The maximum number of attempts until one has to wait. The first waits may end before the next attempt.
const MAX_ATTEMPTS: u8 = 20;

/// Starts a server that believes `X-Forwarded-For`, so that attempts can come from any address.
async fn start() -> Team {
    Team::start(|settings| {
        settings.accounts.sign_in_attempts = 3;
        settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await
}

impl Team {
    async fn sign_in_from(&self, address: &str, name: &str, password: &str) -> Response {
        let browser = self.browser();
        let request = browser.request(browser.client.post(format!("{}/sign-in", browser.url)));
        let body = format!("name={name}&password={}", password.replace(' ', "+"));
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-forwarded-for", address)
            .body(body);
        request.send().await.unwrap()
    }
}

async fn expect_wait(response: Response) {
    assert_eq!(response.status(), 429);
    let wait: u64 = response.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(wait > 0);
    let text = response.text().await.unwrap();
    assert!(text.contains("Too many attempts"), "{text}");
}

#[tokio::test]
async fn failed_attempts_have_to_wait() {
    let team = start().await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    for (network, name) in ["ann", "nobody"].into_iter().enumerate() {
        let mut limited = None;
        for number in 1..=MAX_ATTEMPTS {
            let address = format!("198.51.{network}.{number}");
            let page = team.sign_in_from(&address, name, "a wrong password").await;
            if page.status() == 429 {
                limited = Some(page);
                break;
            }
            assert_eq!(page.status(), 401);
        }
        // At once: the wait is short.
        if name == "ann" {
            let right = team.sign_in_from("203.0.113.1", name, PASSWORD).await;
            assert_eq!(right.status(), 429, "the right password has to wait too");
        }
        expect_wait(limited.expect("a limit per account")).await;
    }
    assert_eq!(ann.status().await, 200, "sessions go on");
}

#[tokio::test]
async fn failed_attempts_of_an_address_have_to_wait() {
    let team = start().await;
    team.browser().set_up(&team.parlor, "ann").await;
    let address = "198.51.100.1";
    let mut limited = None;
    for number in 1..=MAX_ATTEMPTS {
        let page = team
            .sign_in_from(address, &format!("user{number}"), "a wrong password")
            .await;
        // An own account does not help.
        let own = team.sign_in_from(address, "ann", PASSWORD).await;
        if own.status() == 429 {
            limited = Some(own);
            break;
        }
        assert_eq!((page.status().as_u16(), own.status().as_u16()), (401, 303));
    }
    expect_wait(limited.expect("a limit per address")).await;
    let other = team.sign_in_from("203.0.113.1", "ann", PASSWORD).await;
    assert_eq!(other.status(), 303, "other addresses need not wait");
}

#[tokio::test]
async fn invalid_tokens_count_as_requests() {
    let team = Team::start(|settings| settings.accounts.requests_per_minute = 20).await;
    let browser = team.browser();
    let mut statuses = Vec::new();
    for _ in 0..100 {
        let guess = browser
            .get("/api/models")
            .bearer_auth(format!("parlor_{}", "0".repeat(64)));
        statuses.push(guess.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses[0], 401);
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn requests_per_minute_are_limited_per_user() {
    let team = Team::start(|settings| settings.accounts.requests_per_minute = 40).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    let mut limited = None;
    for _ in 0..200 {
        let response = ann.get("/rpc/models").send().await.unwrap();
        if response.status() == 429 {
            limited = Some(response);
            break;
        }
    }
    let limited = limited.expect("a limit");
    assert!(limited.headers().contains_key("retry-after"));
    assert!(limited.text().await.unwrap().contains("too_many_requests"));
    assert_eq!(ben.status().await, 200, "others are not limited");
}
