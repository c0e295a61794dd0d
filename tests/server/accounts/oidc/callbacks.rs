//! The way to the provider and back: what works once, what is refused, and outages.

use parlor_base::settings::Secret;
use reqwest::{Response, Url};
use serde_json::json;

use super::{Person, location, start};

#[tokio::test]
async fn callback_works_once_in_its_browser() {
    let (_provider, team) = start(|_| {}).await;
    let mut ann = Person::new(&team.parlor, "ann");
    let mut eve = Person::new(&team.parlor, "eve");
    let callback = ann.authorize("%2F", "user=ann").await;
    // Another browser, without a begun sign-in and with one of its own: eve can neither use ann's code nor give ann hers.
    let status = |response: Response| response.status().as_u16();
    assert_eq!(status(eve.open(&callback, None).await), 400);
    let own = eve.authorize("%2F", "user=eve").await;
    assert_eq!(status(eve.open(&callback, None).await), 400);
    let own_again = eve.authorize("%2F", "user=eve").await;
    assert_ne!(own, own_again);
    let cookies = ann.cookies.clone();
    for forged in [
        own_again.clone(),
        callback.replace("state=", "state=x"),
        callback.replace("state=", "other="),
        format!("{callback}&state=x"),
        format!("{}/sign-in/callback", team.parlor.url),
    ] {
        ann.cookies.clone_from(&cookies);
        assert_eq!(status(ann.open(&forged, None).await), 400, "{forged}");
        assert_eq!(ann.page("/settings/account").await.0, 303, "{forged}");
    }
    // The answer of another provider (mix-up).
    ann.cookies.clone_from(&cookies);
    let mut mixed = Url::parse(&callback).unwrap();
    let pairs: Vec<(String, String)> = mixed.query_pairs().into_owned().collect();
    assert!(pairs.iter().any(|(name, _)| name == "iss"), "{callback}");
    let other = pairs.iter().map(|(name, value)| match name.as_str() {
        "iss" => ("iss", "https://evil.example"),
        name => (name, value.as_str()),
    });
    mixed
        .query_pairs_mut()
        .clear()
        .extend_pairs(other.collect::<Vec<_>>());
    assert_eq!(status(ann.open(mixed.as_str(), None).await), 403);
    ann.cookies.clone_from(&cookies);
    mixed
        .query_pairs_mut()
        .clear()
        .extend_pairs(pairs.iter().filter(|(name, _)| name != "iss"));
    assert_eq!(status(ann.open(mixed.as_str(), None).await), 403);

    ann.cookies.clone_from(&cookies);
    assert_eq!(status(ann.open(&callback, None).await), 303, "her own browser");
    assert_eq!(ann.page("/settings/account").await.0, 200);
    assert_eq!(status(ann.open(&callback, None).await), 400, "its cookie is gone");
    ann.cookies = cookies;
    assert_eq!(
        status(ann.open(&callback, None).await),
        403,
        "the code is used up"
    );
    assert_eq!(status(eve.open(&own_again, None).await), 303);
}

#[tokio::test]
async fn a_refusal_of_the_provider_is_explained() {
    let (_provider, team) = start(|_| {}).await;
    let mut ann = Person::new(&team.parlor, "ann");
    let callback = ann.authorize("%2F", "cancel=yes").await;
    let response = ann.open(&callback, None).await;
    assert_eq!(response.status(), 403);
    let page = response.text().await.unwrap();
    assert!(
        page.contains("Team ID did not sign you in: you, or a rule there, did not allow it."),
        "{page}"
    );
    assert!(
        page.contains("&lt;b&gt;The user&lt;/b&gt;") && !page.contains("<b>"),
        "{page}"
    );
    assert_eq!(ann.sign_in().await.0, 303, "trying again");
}

#[tokio::test]
async fn a_wrong_client_secret_is_named() {
    let (_provider, team) = start(|settings| {
        settings.accounts.oidc.client_secret = Some(Secret("another secret".into()));
    })
    .await;
    let (status, page) = Person::new(&team.parlor, "ann").sign_in().await;
    assert_eq!(status, 403, "{page}");
    assert!(
        page.contains("Team ID does not accept this Parlor: its client id or secret is wrong"),
        "{page}"
    );
}

#[tokio::test]
async fn survives_new_keys_and_provider_outages() {
    let (provider, team) = start(|_| {}).await;
    let mut ann = Person::new(&team.parlor, "ann");
    let start = format!("{}/sign-in/start", team.parlor.url);
    provider.control("down", json!({})).await;
    let page = ann.open(&start, None).await;
    assert_eq!(page.status(), 503);
    assert!(page.text().await.unwrap().contains("Team ID can"));
    provider.control("up", json!({})).await;
    assert_eq!(ann.sign_in().await.0, 303);
    provider.control("rotate", json!({})).await;
    assert_eq!(ann.sign_in().await.0, 303, "with a key that was not known");
    assert_eq!(ann.page("/settings/account").await.0, 200);
}

#[tokio::test]
async fn a_sign_in_leads_to_own_pages_only() {
    let (_provider, team) = start(|_| {}).await;
    let mut ann = Person::new(&team.parlor, "ann");
    for (next, target) in [
        ("%2F%2Fevil.example", "/"),
        ("https%3A%2F%2Fevil.example", "/"),
        ("%2Fsettings", "/settings"),
    ] {
        let callback = ann.authorize(next, "user=ann").await;
        assert_eq!(location(&ann.open(&callback, None).await), target, "{next}");
    }
}
