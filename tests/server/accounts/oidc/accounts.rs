//! The accounts of a provider's users, and their sessions.

use serde_json::json;

use super::{
    super::{Browser, Team, with_passwords},
    Person, Provider, location, start,
};
use crate::support::Parlor;

#[tokio::test]
async fn a_provider_signs_people_in_and_out() {
    let (provider, mut team) = start(|_| {}).await;
    let mut ann = Person::new(&team.parlor, "ann");
    assert_eq!(
        location(&ann.open(&format!("{}/", team.parlor.url), None).await),
        "/sign-in"
    );
    assert!(ann.page("/sign-in").await.1.contains("Sign in at Team ID"));
    assert_eq!(ann.page("/setup").await.0, 404, "there are no passwords");
    assert_eq!(ann.sign_in().await, (303, "/settings/account".into()));
    assert!(
        ann.page("/settings/account")
            .await
            .1
            .contains("<strong>ann</strong>")
    );
    assert_eq!(
        ann.page("/settings/users").await.0,
        200,
        "the first one administers"
    );
    let mut ben = Person::new(&team.parlor, "ben");
    ben.sign_in().await;
    assert_eq!(ben.page("/settings/users").await.0, 403);

    // The account is that of the subject: not of the name, nor of the mail address.
    team.parlor.client = ann.signed_in_client();
    let turn = team.parlor.turn(None, "Of Ann").await;
    let path = format!(
        "/rpc/conversation?conversation_id={}",
        turn[0]["conversation_id"].as_str().unwrap()
    );
    let mut eve = Person::new(&team.parlor, "eve");
    eve.sign_in().await;
    assert!(
        eve.page("/settings/account")
            .await
            .1
            .contains("<strong>ann-2</strong>")
    );
    assert_eq!(eve.page(&path).await.0, 404);
    assert_eq!(ann.page(&path).await.0, 200);

    // Signing out ends the session here, then the one there.
    let signed_out = ann.open(&format!("{}/sign-out", team.parlor.url), Some("")).await;
    let refresh = signed_out.headers()["refresh"].to_str().unwrap().to_owned();
    let end = refresh.strip_prefix("0; url=").unwrap();
    assert!(
        end.starts_with(&provider.url) && end.contains("post_logout_redirect_uri="),
        "{end}"
    );
    assert_eq!(ann.page(&path).await.0, 401);

    // Another name at the provider becomes the account's with the next sign-in.
    provider
        .set_users(json!({ "ann": { "sub": "1", "preferred_username": "Anna Lee" } }))
        .await;
    assert_eq!(ann.sign_in().await.0, 303);
    assert!(
        ann.page("/settings/account")
            .await
            .1
            .contains("<strong>anna.lee</strong>")
    );
    assert_eq!(ann.page(&path).await.0, 200, "the same account");
}

#[tokio::test]
async fn groups_are_checked_at_each_sign_in() {
    let (provider, team) = start(|settings| {
        settings.accounts.oidc.allowed_groups = vec!["staff".into()];
        settings.accounts.oidc.administrator_groups = vec!["admins".into()];
    })
    .await;
    let user =
        |groups: &[&str]| json!({ "ben": { "sub": "2", "preferred_username": "ben", "groups": groups } });
    let mut ben = Person::new(&team.parlor, "ben");
    assert_eq!(ben.sign_in().await.0, 303);
    assert_eq!(
        ben.page("/settings/users").await.0,
        403,
        "the first one is no administrator without the group"
    );
    provider.set_users(user(&["admins"])).await;
    assert_eq!(ben.sign_in().await.0, 303);
    assert_eq!(ben.page("/settings/users").await.0, 200);
    provider.set_users(user(&["staff"])).await;
    assert_eq!(ben.sign_in().await.0, 303);
    assert_eq!(ben.page("/settings/users").await.0, 403);
    provider.set_users(user(&["others"])).await;
    let (status, page) = ben.sign_in().await;
    assert_eq!(status, 403);
    assert!(
        page.contains("in none of the groups that may use this Parlor"),
        "{page}"
    );
}

#[tokio::test]
async fn disabled_accounts_are_refused() {
    let (_provider, team) = start(|_| {}).await;
    let (mut ann, mut ben) = (Person::new(&team.parlor, "ann"), Person::new(&team.parlor, "ben"));
    ann.sign_in().await;
    ben.sign_in().await;
    let users = ann.page("/settings/users").await.1;
    let (_, row) = users.split_once("<strong>ben</strong>").unwrap();
    let (_, id) = row.split_once("name=\"user\" value=\"").unwrap();
    let id = id.split('"').next().unwrap().to_owned();
    for (action, status) in [("disable", 403), ("enable", 303)] {
        let path = format!("{}/settings/users/{action}", team.parlor.url);
        ann.open(&path, Some(&format!("user={id}"))).await;
        assert_eq!(ben.sign_in().await.0, status, "{action}");
    }
    assert_eq!(ben.page("/settings/account").await.0, 200);
}

#[tokio::test]
async fn sessions_of_other_sign_in_ways_are_invalid() {
    let mut team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let provider = Provider::start().await;
    for (with_provider, status) in [(true, 401), (false, 200)] {
        let folder = team.folder.path().to_owned();
        team.parlor.stop().await;
        team.parlor = Parlor::start_with(&folder, &team.upstream, |settings| {
            with_passwords(settings);
            if with_provider {
                provider.set_up(settings);
            }
        })
        .await;
        let again = Browser {
            cookies: ann.cookies.clone(),
            ..Browser::new(&team.parlor)
        };
        assert_eq!(again.status().await, status);
    }
}
