//! The host names under which a server with accounts answers: a page of another site can make its name resolve to Parlor's address.

use reqwest::{
    RequestBuilder,
    header::{COOKIE, HOST},
};

use super::{Browser, PASSWORD, Team, with_passwords};
use crate::support::Parlor;

const ATTACKER: &str = "evil.example";
const NAME: &str = "nas.local:7387";

/// Returns a request as a browser sends it that reaches Parlor under a name.
fn under(host: &str, request: RequestBuilder) -> RequestBuilder {
    request
        .header(HOST, host)
        .header("origin", format!("http://{host}"))
}

async fn status(browser: &Browser, parlor: &Parlor, host: &str, path: &str) -> u16 {
    let request = under(host, browser.client.get(format!("{}{path}", parlor.url)));
    request.send().await.unwrap().status().as_u16()
}

async fn set_up(browser: &Browser, parlor: &Parlor, host: &str, token: &str) -> u16 {
    let form = format!("token={token}&name=ann&password={PASSWORD}&again={PASSWORD}").replace(' ', "+");
    let request = under(host, browser.client.post(format!("{}/setup", parlor.url)));
    let request = request
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn setup_adds_the_name_by_which_it_came() {
    let team = Team::start(|_| {}).await;
    let (browser, token) = (team.browser(), team.parlor.setup_token.clone().unwrap());
    assert_eq!(status(&browser, &team.parlor, NAME, "/setup").await, 200);
    assert_eq!(status(&browser, &team.parlor, NAME, "/sign-in").await, 403);
    assert_eq!(set_up(&browser, &team.parlor, NAME, &token).await, 303);
    assert_eq!(status(&browser, &team.parlor, NAME, "/sign-in").await, 200);
    // Nobody else's name, and no other port.
    for host in [ATTACKER, "nas.local", "nas.local:80"] {
        assert_eq!(
            status(&browser, &team.parlor, host, "/sign-in").await,
            403,
            "{host}"
        );
    }
    team.parlor.stop().await;
    let parlor = Parlor::start_with(team.folder.path(), &team.upstream, with_passwords).await;
    let browser = Browser::new(&parlor);
    assert_eq!(
        status(&browser, &parlor, NAME, "/sign-in").await,
        200,
        "it is stored"
    );
    assert_eq!(status(&browser, &parlor, ATTACKER, "/sign-in").await, 403);
}

#[tokio::test]
async fn attacker_without_the_token_adds_no_name() {
    let team = Team::start(|_| {}).await;
    let browser = team.browser();
    let guess = "0".repeat(64);
    assert_eq!(set_up(&browser, &team.parlor, ATTACKER, &guess).await, 403);
    // Before there is an account, the name opens the setup page and nothing else.
    for path in [
        "/",
        "/sign-in",
        "/settings/system",
        "/rpc/models",
        "/api/models",
        "/healthz",
        "/readyz",
    ] {
        assert_eq!(
            status(&browser, &team.parlor, ATTACKER, path).await,
            403,
            "{path}"
        );
    }
    let token = team.parlor.setup_token.clone().unwrap();
    assert_eq!(set_up(&browser, &team.parlor, "127.0.0.1", &token).await, 303);
    for path in ["/setup", "/sign-in", "/"] {
        assert_eq!(
            status(&browser, &team.parlor, ATTACKER, path).await,
            403,
            "{path}"
        );
    }
    assert_eq!(set_up(&browser, &team.parlor, ATTACKER, &token).await, 403);
    assert!(!team.folder.path().join("hosts").exists());
}

#[tokio::test]
async fn addresses_need_no_list() {
    let team = Team::start(|_| {}).await;
    let (browser, token) = (team.browser(), team.parlor.setup_token.clone().unwrap());
    for host in ["192.168.1.20:7387", "[fd00::7]:7387"] {
        assert_eq!(
            status(&browser, &team.parlor, host, "/sign-in").await,
            303,
            "{host}"
        );
    }
    assert_eq!(
        set_up(&browser, &team.parlor, "192.168.1.20:7387", &token).await,
        303
    );
    assert!(
        !team.folder.path().join("hosts").exists(),
        "an address needs no entry"
    );
    // A page of another site, at an address or under a name.
    for origin in ["http://192.168.1.21:7387", "http://evil.example"] {
        let request = browser.client.get(format!("{}/sign-in", team.parlor.url));
        let request = request.header(HOST, "192.168.1.20:7387").header("origin", origin);
        assert_eq!(request.send().await.unwrap().status(), 403, "{origin}");
    }
}

#[tokio::test]
async fn forms_say_that_they_came_without_tls() {
    let team = Team::start(|settings| settings.server.proxies = vec!["127.0.0.0/8".parse().unwrap()]).await;
    let page = async |host: &str, scheme: &str| {
        let request = team.browser().client.get(format!("{}/setup", team.parlor.url));
        let request = request.header(HOST, host).header("x-forwarded-proto", scheme);
        request.send().await.unwrap().text().await.unwrap()
    };
    assert!(page("192.168.1.20:7387", "http").await.contains("without TLS"));
    for (host, scheme) in [
        ("192.168.1.20:7387", "https"),
        ("localhost:7387", "http"),
        ("127.0.0.1", "http"),
    ] {
        let page = page(host, scheme).await;
        assert!(
            page.contains("Setup token") && !page.contains("without TLS"),
            "{host}"
        );
    }
}

#[tokio::test]
async fn account_says_that_it_came_without_tls() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    for (host, path, expected) in [
        ("192.168.1.20:7387", "/settings/account", true),
        ("192.168.1.20:7387", "/settings/devices", false),
        ("localhost:7387", "/settings/account", false),
    ] {
        let request = ann.client.get(format!("{}{path}", team.parlor.url));
        let request = request.header(HOST, host).header(COOKIE, &ann.cookies);
        let page = request.send().await.unwrap().text().await.unwrap();
        assert!(page.contains("ann"), "{host} {path}");
        assert_eq!(page.contains("without TLS"), expected, "{host} {path}");
    }
}

#[tokio::test]
async fn system_page_is_for_administrators() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    let page = ann.page("/settings/system").await;
    for subject in [
        "Data folder",
        "File system",
        "Port",
        "Hosts",
        "Models",
        "Python",
        "Clock",
        "Secrets",
        "Proxy headers",
        "Storage",
        "Files",
    ] {
        assert!(page.contains(&format!("<dt>{subject}</dt>")), "{subject}: {page}");
    }
    let refused = ben.get("/settings/system").send().await.unwrap();
    assert_eq!(refused.status(), 403);
}
