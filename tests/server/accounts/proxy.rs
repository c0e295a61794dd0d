//! Users named by a proxy, and what proxies may report.

use parlor_base::settings::AuthMode;
use parlor_storage::{accounts::AccountStorage, sqlite::SqliteStorage};
use upstream::{Script, Upstream, When};

use super::Team;
use crate::support::Parlor;

#[tokio::test]
async fn a_named_proxy_names_the_user() {
    let mut team = Team::start(|settings| {
        settings.accounts.auth = AuthMode::Proxy;
        settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let browser = team.browser();
    let get = |path: &str, user: &str| browser.get(path).header("remote-user", user);
    let page = get("/settings/account", "Ann").send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("<strong>ann</strong>"));
    assert_eq!(
        get("/settings/users", "ann").send().await.unwrap().status(),
        200,
        "the first one administers"
    );
    assert_eq!(get("/settings/users", "ben").send().await.unwrap().status(), 403);
    let nobody = browser.get("/").send().await.unwrap();
    assert_eq!(nobody.status(), 401);
    assert_eq!(
        browser.get("/sign-in").send().await.unwrap().status(),
        404,
        "there are no passwords"
    );
    let unnamed = browser.get(&format!("/shared/{}", uuid::Uuid::now_v7()));
    let unnamed = unnamed.header("accept", "text/html").send().await.unwrap();
    assert_eq!(unnamed.status(), 404, "nor is a share's reader led there");
    let two = get("/settings/account", "ann").header("remote-user", "ben");
    assert_eq!(two.send().await.unwrap().status(), 403);
    // What one user writes, another one does not find.
    let headers =
        reqwest::header::HeaderMap::from_iter([("remote-user".parse().unwrap(), "ann".parse().unwrap())]);
    team.parlor.client = reqwest::Client::builder()
        .default_headers(headers)
        .build()
        .unwrap();
    let turn = team.parlor.turn(None, "Mine").await;
    let path = format!(
        "/rpc/conversation?conversation_id={}",
        turn[0]["conversation_id"].as_str().unwrap()
    );
    assert_eq!(get(&path, "ben").send().await.unwrap().status(), 404);
    assert_eq!(get(&path, "ann").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_user_header_counts_from_the_proxy_only() {
    let team = Team::start(|settings| {
        settings.accounts.auth = AuthMode::Proxy;
        settings.server.proxies = vec!["192.0.2.1/32".parse().unwrap()];
    })
    .await;
    let browser = team.browser();
    for path in ["/", "/rpc/models", "/api/models", "/settings/account"] {
        let forged = browser.get(path).header("remote-user", "ann");
        assert_eq!(forged.send().await.unwrap().status(), 403, "{path}");
    }
    let health = browser.get("/healthz").header("remote-user", "ann");
    assert_eq!(health.send().await.unwrap().status(), 200);
    team.parlor.stop().await;
    let database = SqliteStorage::open(team.folder.path()).await.unwrap();
    assert!(!database.has_accounts().await.unwrap(), "nobody was let in");
}

#[tokio::test]
async fn first_proxied_user_gets_the_earlier_data() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let turn = parlor.turn(None, "Before").await;
    parlor.stop().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.accounts.auth = AuthMode::Proxy;
        settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let path = format!(
        "/rpc/conversation?conversation_id={}",
        turn[0]["conversation_id"].as_str().unwrap()
    );
    for (user, status) in [("ann", 200), ("ben", 404), ("ann", 200)] {
        let found = parlor.get(&path).header("remote-user", user);
        assert_eq!(found.send().await.unwrap().status(), status, "{user}");
    }
}

#[tokio::test]
async fn the_user_header_is_ignored_with_passwords() {
    let team = Team::start(|settings| settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()]).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let forged = team.browser().get("/rpc/models").header("remote-user", "ann");
    assert_eq!(forged.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn cookies_are_secure_behind_tls() {
    let team = Team::start(|settings| settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()]).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let sign_in = || {
        let request = ann.client.post(format!("{}/sign-in", ann.url));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.body(format!("name=ann&password={}", super::PASSWORD.replace(' ', "+")))
    };
    let over_tls = sign_in()
        .header("x-forwarded-proto", "https")
        .send()
        .await
        .unwrap();
    assert_eq!(
        over_tls.headers()["strict-transport-security"],
        "max-age=31536000"
    );
    let cookie = over_tls.headers()["set-cookie"].to_str().unwrap();
    assert!(
        cookie.starts_with("__Host-parlor=") && cookie.contains("; Secure"),
        "{cookie}"
    );
    let plain = sign_in().send().await.unwrap();
    assert!(plain.headers().get("strict-transport-security").is_none());
}
