//! The audit log: who did what, without contents and secrets.

use super::{PASSWORD, Team};
use crate::tokens::{create_token, list_tokens, revoke};

/// Returns the sentences of the page, newest first.
fn sentences(page: &str) -> Vec<String> {
    let rows = page.split("<strong>").skip(1);
    let text = |row: &str| {
        let row = row.split("<p").next().unwrap_or_default();
        let mut text = String::new();
        let mut is_tag = false;
        for c in row.chars() {
            match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                c if !is_tag => text.push(c),
                _ => {}
            }
        }
        text.trim().to_owned()
    };
    rows.map(text).collect()
}

#[tokio::test]
async fn the_log_says_who_did_what() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    ben.sign_in("ben", "a secret wrong password").await;
    ben.sign_in("a secret in the wrong field", PASSWORD).await;
    let id = ann.user_id("ben").await;
    for (action, role) in [
        ("role", "administrator"),
        ("role", "member"),
        ("disable", ""),
        ("enable", ""),
    ] {
        let path = format!("/settings/users/{action}");
        let done = ann.submit(&path, &[("user", &id), ("role", role)]).await;
        assert_eq!(done.status(), 303, "{action} {role}");
    }
    team.parlor.client = ann.signed_in_client();
    let token = create_token(&team.parlor, "a secret name").await;
    revoke(&team.parlor, &list_tokens(&team.parlor).await[0]).await;
    ann.submit("/settings/users/delete", &[("user", &id), ("sure", "yes")])
        .await;
    let page = ann.page("/settings/audit").await;
    assert_eq!(
        sentences(&page),
        [
            "ann deleted the account ben with everything in it",
            "ann disabled the account ben",
            "ann revoked an API token",
            "ann made an API token",
            "ann enabled the account ben",
            "ann disabled the account ben",
            "ann made the account ben a member",
            "ann made the account ben an administrator",
            "Somebody failed to sign in, without an account here",
            "ben could not sign in",
            "ben signed in",
            "ben got an account",
            "ann made an invitation",
            "ann signed in",
            "ann got an account",
        ]
    );
    assert!(page.contains("127.0.0.1"), "with addresses");
    for secret in ["secret", &token, PASSWORD] {
        assert!(!page.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn the_log_is_paged() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    for _ in 0..110 {
        ann.new_link("/settings/invitations/invite", &[("role", "member")])
            .await;
    }
    let page = ann.page("/settings/audit").await;
    assert_eq!(sentences(&page).len(), 100);
    let (_, older) = page
        .split_once("href=\"/settings/audit?before=")
        .expect("older entries");
    let before = older.split('"').next().unwrap();
    let older = ann.page(&format!("/settings/audit?before={before}")).await;
    assert_eq!(sentences(&older).len(), 12);
    assert_eq!(sentences(&older).last().unwrap(), "ann got an account");
    assert!(!older.contains("Older entries"));
    assert_eq!(
        ann.get("/settings/audit?before=x").send().await.unwrap().status(),
        200
    );
}

#[tokio::test]
async fn the_last_administrator_stays_one() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    let id = ann.user_id("ben").await;
    ann.submit(
        "/settings/users/role",
        &[("user", &id), ("role", "administrator")],
    )
    .await;
    let own = ben.user_id("ann").await;
    let demoted = ben
        .submit("/settings/users/role", &[("user", &own), ("role", "member")])
        .await;
    assert_eq!(demoted.status(), 303);
    assert_eq!(ann.get("/settings/users").send().await.unwrap().status(), 403);
    // Nobody else could administer then.
    let last = ben
        .submit("/settings/users/role", &[("user", &id), ("role", "member")])
        .await;
    assert_eq!(last.status(), 400);
    assert_eq!(ben.get("/settings/users").send().await.unwrap().status(), 200);
}
