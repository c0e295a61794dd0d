//! The limits of attempts and requests.

use super::{PASSWORD, Team};

#[tokio::test]
async fn failed_attempts_have_to_wait() {
    let team = Team::start(|settings| settings.accounts.sign_in_attempts = 3).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut eve = team.browser();
    for name in ["ann", "nobody"] {
        let mut statuses = Vec::new();
        for _ in 0..5 {
            let page = eve.sign_in(name, "a wrong password").await;
            statuses.push(page.status().as_u16());
            if page.status() == 429 {
                let wait: u64 = page.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                assert!(wait > 0);
                let text = page.text().await.unwrap();
                assert!(text.contains("Too many attempts"), "{text}");
            }
        }
        assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    }
    let right = eve.sign_in("ann", PASSWORD).await;
    assert_eq!(right.status(), 429, "the right password has to wait too");
    assert_eq!(ann.status().await, 200, "sessions go on");
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
