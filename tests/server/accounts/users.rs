//! The administrator's page.

use super::Team;
use crate::tokens::create_token;

#[tokio::test]
async fn deleting_a_user_deletes_their_data() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    team.parlor.client = ben.signed_in_client();
    team.parlor.turn(None, "a remarkable secret").await;
    let user = ann.user_id("ben").await;
    let asked = ann.submit("/settings/users/delete", &[("user", &user)]).await;
    assert_eq!(
        (asked.status().as_u16(), ben.status().await),
        (200, 200),
        "asks first"
    );
    let deleted = ann
        .submit("/settings/users/delete", &[("user", &user), ("sure", "yes")])
        .await;
    assert_eq!((deleted.status().as_u16(), ben.status().await), (303, 401));
    assert_eq!(
        ann.submit("/settings/users/delete", &[("user", &user), ("sure", "yes")])
            .await
            .status(),
        404
    );
    team.parlor.stop().await;
    let database = std::fs::read(team.folder.path().join("parlor.db")).unwrap();
    let secret = b"a remarkable secret";
    assert!(!database.windows(secret.len()).any(|bytes| bytes == secret));
}

#[tokio::test]
async fn a_disabled_account_cannot_be_used_until_enabled() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    team.parlor.client = ben.signed_in_client();
    let token = create_token(&team.parlor, "a").await;
    let (client, url) = (team.browser().client, format!("{}/api/models", team.parlor.url));
    let by_token = || client.get(&url).bearer_auth(&token);
    assert_eq!(by_token().send().await.unwrap().status(), 200);
    let user = ann.user_id("ben").await;
    ann.submit("/settings/users/disable", &[("user", &user)]).await;
    assert_eq!(by_token().send().await.unwrap().status(), 401, "tokens too");
    ann.submit("/settings/users/enable", &[("user", &user)]).await;
    assert_eq!(by_token().send().await.unwrap().status(), 200);
    assert_eq!(ben.sign_in("ben", super::PASSWORD).await.status(), 303);
}

#[tokio::test]
async fn new_link_has_the_browsers_url() {
    let team = Team::start(|settings| settings.server.allowed_hosts = vec!["parlor.example".into()]).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    // As behind a proxy that sends a `Host` of its own.
    let form = ann
        .signed_in_client()
        .post(format!("{}/settings/invitations/invite", team.parlor.url))
        .header("origin", "https://parlor.example")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("role=member");
    let page = form.send().await.unwrap().text().await.unwrap();
    assert!(
        page.contains("value=\"https://parlor.example/invitation/"),
        "{page}"
    );
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let path = ann
        .new_link("/settings/invitations/invite", &[("role", "administrator")])
        .await;
    let mut ben = team.browser();
    let fields = [
        ("name", "ben"),
        ("password", super::PASSWORD),
        ("again", super::PASSWORD),
    ];
    ben.submit(&path, &fields).await;
    let (user_ann, user_ben) = (ben.user_id("ann").await, ann.user_id("ben").await);
    let disabled = ben
        .submit("/settings/users/disable", &[("user", &user_ann)])
        .await;
    assert_eq!(disabled.status(), 303);
    for path in ["/settings/users/disable", "/settings/users/delete"] {
        let refused = ben.submit(path, &[("user", &user_ben), ("sure", "yes")]).await;
        assert_eq!(refused.status(), 400, "{path}");
    }
    assert_eq!(ben.status().await, 200);
}

#[tokio::test]
async fn links_end_with_the_role_of_their_maker() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let path = ann
        .new_link("/settings/invitations/invite", &[("role", "administrator")])
        .await;
    let fields = |name| {
        [
            ("name", name),
            ("password", super::PASSWORD),
            ("again", super::PASSWORD),
        ]
    };
    let mut ben = team.browser();
    ben.submit(&path, &fields("ben")).await;
    let invitation = ben
        .new_link("/settings/invitations/invite", &[("role", "administrator")])
        .await;
    let user_ann = ben.user_id("ann").await;
    let password = ben
        .new_link("/settings/users/password", &[("user", &user_ann)])
        .await;
    let user_ben = ann.user_id("ben").await;
    let demoted = ann
        .submit("/settings/users/role", &[("user", &user_ben), ("role", "member")])
        .await;
    assert_eq!(demoted.status(), 303);
    for path in [invitation, password] {
        let page = team.browser().page(&path).await;
        assert!(page.contains("not valid any more"), "{page}");
        let used = team.browser().submit(&path, &fields("eve")).await;
        assert_eq!(used.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn new_password_ends_tokens_and_says_so() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    team.parlor.client = ben.signed_in_client();
    let token = create_token(&team.parlor, "a").await;
    let (client, url) = (team.browser().client, format!("{}/api/models", team.parlor.url));
    let by_token = || client.get(&url).bearer_auth(&token);
    assert_eq!(by_token().send().await.unwrap().status(), 200);
    let user = ann.user_id("ben").await;
    let link = ann.new_link("/settings/users/password", &[("user", &user)]).await;
    let page = team.browser().page(&link).await;
    assert!(page.contains("your API tokens will end"), "{page}");
    let new = [
        ("password", "another long password"),
        ("again", "another long password"),
    ];
    assert_eq!(team.browser().submit(&link, &new).await.status(), 303);
    assert_eq!(
        (
            by_token().send().await.unwrap().status().as_u16(),
            ben.status().await
        ),
        (401, 401)
    );
    // The user's own change does the same.
    ben.sign_in("ben", "another long password").await;
    team.parlor.client = ben.signed_in_client();
    let token = create_token(&team.parlor, "b").await;
    let by_token = || client.get(&url).bearer_auth(&token);
    let fields = [
        ("old", "another long password"),
        ("password", super::PASSWORD),
        ("again", super::PASSWORD),
    ];
    let changed = ben.submit("/settings/account/password", &fields).await;
    assert_eq!(changed.headers()["location"], "/settings/account?done=password");
    let page = ben.page("/settings/account?done=password").await;
    assert!(page.contains("your API tokens have ended"), "{page}");
    assert_eq!(by_token().send().await.unwrap().status(), 401);
}
