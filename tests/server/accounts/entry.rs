//! Setup, sign-in, sign-up and one-time links.

use parlor_base::settings::SignUp;

use super::{Browser, PASSWORD, Team};
use crate::support::Parlor;

#[tokio::test]
async fn setup_needs_the_token_and_works_once() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    let page = ann.get("/").send().await.unwrap();
    assert_eq!(
        (page.status().as_u16(), &page.headers()["location"]),
        (303, &"/setup".parse().unwrap())
    );
    let fields = |token: &'static str| {
        [
            ("token", token),
            ("name", "eve"),
            ("password", PASSWORD),
            ("again", PASSWORD),
        ]
    };
    for token in [
        "",
        "0",
        "0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        let refused = ann.submit("/setup", &fields(token)).await;
        assert_eq!(refused.status(), 403, "{token}");
    }
    assert_eq!(ann.status().await, 401);
    // Two tabs at the same time.
    let (mut one, mut two) = (team.browser(), team.browser());
    let (first, second) = tokio::join!(one.set_up(&team.parlor, "ann"), two.set_up(&team.parlor, "ben"));
    let mut statuses = [first.status().as_u16(), second.status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 403], "one account");
    let again = ann.set_up(&team.parlor, "eve").await;
    assert_eq!(again.status(), 403);
    let page = ann.get("/setup").send().await.unwrap();
    assert_eq!(page.headers()["location"], "/sign-in");
}

#[tokio::test]
async fn first_account_can_keep_local_data() {
    for keeps in [true, false] {
        let team =
            Team::start(|settings| settings.accounts.auth = parlor_base::settings::AuthMode::None).await;
        let turn = team.parlor.turn(None, "Before").await;
        let conversation = turn[0]["conversation_id"].as_str().unwrap().to_owned();
        team.parlor.stop().await;
        let mut parlor = Parlor::start_with(team.folder.path(), &team.upstream, super::with_passwords).await;
        let mut ann = Browser::new(&parlor);
        let page = ann.page("/setup").await;
        assert!(page.contains("name=\"keep\""));
        let token = parlor.setup_token.clone().unwrap();
        let mut fields = vec![
            ("token", token.as_str()),
            ("name", "ann"),
            ("password", PASSWORD),
            ("again", PASSWORD),
        ];
        fields.extend(keeps.then_some(("keep", "yes")));
        assert_eq!(ann.submit("/setup", &fields).await.status(), 303);
        parlor.client = ann.signed_in_client();
        let path = format!("/rpc/conversation?conversation_id={conversation}");
        assert_eq!(parlor.get_json(&path).await.0, if keeps { 200 } else { 404 });
    }
}

#[tokio::test]
async fn sign_in_does_not_tell_which_names_exist() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    let user = ann.user_id("ben").await;
    assert_eq!(
        ann.submit("/settings/users/disable", &[("user", &user)])
            .await
            .status(),
        303
    );
    assert_eq!(ben.status().await, 401, "disabling ends sessions");
    let mut pages = Vec::new();
    for (name, password) in [
        ("ann", "a wrong password"),
        ("eve", PASSWORD),
        ("ben", PASSWORD),
        ("", ""),
    ] {
        let page = ben.sign_in(name, password).await;
        assert_eq!(page.status(), 401, "{name}");
        let text = page.text().await.unwrap();
        pages.push(text.replace(&format!("value=\"{name}\""), "value"));
    }
    pages.truncate(3);
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert!(pages[0].contains("The name or the password is wrong."));
}

#[tokio::test]
async fn sign_in_leads_back_to_the_page() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    let done = ann.set_up(&team.parlor, "ann").await;
    assert_eq!(done.headers()["location"], "/");
    assert_eq!(ann.get("/settings").send().await.unwrap().status(), 200);
    let mut other = team.browser();
    let page = other.get("/literature?q=a%20b").send().await.unwrap();
    assert_eq!(
        page.headers()["location"],
        "/sign-in?next=%2Fliterature%3Fq%3Da%2520b"
    );
    for (next, leads_to) in [
        ("/literature?q=a%20b", "/literature?q=a%20b"),
        ("//evil.example", "/"),
    ] {
        let fields = [("name", "ANN "), ("password", PASSWORD), ("next", next)];
        let signed_in = other.submit("/sign-in", &fields).await;
        assert_eq!(signed_in.status(), 303);
        assert_eq!(signed_in.headers()["location"], leads_to);
    }
}

#[tokio::test]
async fn session_cookie_is_renewed_at_sign_in() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    let done = ann.set_up(&team.parlor, "ann").await;
    let set = done.headers().get_all("set-cookie").iter().next().unwrap();
    let set = set.to_str().unwrap();
    assert!(
        set.contains("; HttpOnly") && set.contains("SameSite=Lax") && !set.contains("Secure"),
        "{set}"
    );
    assert!(!set.contains("Max-Age"), "ends with the browser");
    let before = ann.clone();
    let fields = [("name", "ann"), ("password", PASSWORD), ("remember", "yes")];
    let again = ann.submit("/sign-in", &fields).await;
    let set = again.headers().get_all("set-cookie").iter().next().unwrap();
    assert!(set.to_str().unwrap().contains("Max-Age=7776000"), "{set:?}");
    assert_ne!(before.cookies, ann.cookies);
    assert_eq!((before.status().await, ann.status().await), (401, 200));
}

#[tokio::test]
async fn an_invitation_works_once() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let path = ann
        .new_link("/settings/invitations/invite", &[("role", "member")])
        .await;
    let mut ben = team.browser();
    assert_eq!(ben.get(&path).send().await.unwrap().status(), 200);
    let fields =
        |name: &'static str, again: &'static str| [("name", name), ("password", PASSWORD), ("again", again)];
    for (refused, status) in [
        (fields("ben", "another password"), 400),
        (fields("ann", PASSWORD), 400),
        (fields("b n", PASSWORD), 400),
    ] {
        assert_eq!(ben.submit(&path, &refused).await.status(), status);
    }
    assert_eq!(ben.submit(&path, &fields("ben", PASSWORD)).await.status(), 303);
    assert_eq!(ben.status().await, 200);
    assert_eq!(
        ben.get("/settings/users").send().await.unwrap().status(),
        403,
        "a member"
    );
    let mut eve = team.browser();
    assert_eq!(eve.submit(&path, &fields("eve", PASSWORD)).await.status(), 404);
    assert_eq!(eve.get(&path).send().await.unwrap().status(), 404);
    let other = ann
        .new_link("/settings/invitations/invite", &[("role", "administrator")])
        .await;
    let page = ann.page("/settings/invitations").await;
    let (_, link) = page.split_once("name=\"link\" value=\"").unwrap();
    let link = link.split('"').next().unwrap();
    assert_eq!(
        ann.submit("/settings/invitations/withdraw", &[("link", link)])
            .await
            .status(),
        303
    );
    assert_eq!(
        eve.submit(&other, &fields("eve", PASSWORD)).await.status(),
        404,
        "withdrawn"
    );
}

#[tokio::test]
async fn sign_up_is_as_open_as_the_setting() {
    for (sign_up, status) in [
        (SignUp::Open, 303),
        (SignUp::Invitation, 404),
        (SignUp::Closed, 404),
    ] {
        let team = Team::start(|settings| settings.accounts.sign_up = sign_up).await;
        let mut ann = team.browser();
        ann.set_up(&team.parlor, "ann").await;
        let mut ben = team.browser();
        let fields = [("name", "ben"), ("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(
            ben.submit("/sign-up", &fields).await.status(),
            status,
            "{sign_up:?}"
        );
        let page = ben.page("/sign-in").await;
        assert_eq!(page.contains("/sign-up"), sign_up == SignUp::Open);
        if sign_up == SignUp::Open {
            assert_eq!(
                ben.get("/settings/users").send().await.unwrap().status(),
                403,
                "a member"
            );
        }
        if sign_up == SignUp::Closed {
            let path = ann
                .new_link("/settings/invitations/invite", &[("role", "member")])
                .await;
            assert_eq!(
                ben.submit(&path, &fields).await.status(),
                404,
                "earlier invitations too"
            );
        }
    }
}

#[tokio::test]
async fn a_link_sets_a_new_password_once() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let mut ben = ann.invite(&team.parlor, "ben").await;
    let user = ann.user_id("ben").await;
    let path = ann.new_link("/settings/users/password", &[("user", &user)]).await;
    let mut elsewhere = team.browser();
    let new = "another long password";
    let fields = [("password", new), ("again", new)];
    assert_eq!(elsewhere.submit(&path, &fields).await.status(), 303);
    assert_eq!(
        (elsewhere.status().await, ben.status().await),
        (200, 401),
        "other devices are signed out"
    );
    assert_eq!(elsewhere.submit(&path, &fields).await.status(), 404);
    assert_eq!(ben.sign_in("ben", PASSWORD).await.status(), 401);
    assert_eq!(ben.sign_in("ben", new).await.status(), 303);
}

#[tokio::test]
async fn a_server_without_accounts_has_no_account_pages() {
    let team = Team::start(|settings| settings.accounts.auth = parlor_base::settings::AuthMode::None).await;
    assert_eq!(team.parlor.setup_token, None);
    let browser = team.browser();
    for path in [
        "/sign-in",
        "/setup",
        "/sign-up",
        "/settings/account",
        "/settings/devices",
        "/settings/users",
        "/settings/invitations",
        "/settings/audit",
        "/invitation/0",
    ] {
        assert_eq!(browser.get(path).send().await.unwrap().status(), 404, "{path}");
    }
    let page = browser.page("/").await;
    assert!(!page.contains("data-user") && !page.contains("signed-out"));
}

#[tokio::test]
async fn form_fields_stay_text() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    let hostile = [
        "\"><script>alert(1)</script>",
        "'><img src=x onerror=alert(1)>",
        "</title><svg onload=alert(1)>",
        "&quot; autofocus onfocus=alert(1)",
    ];
    for text in hostile {
        let fields = [
            ("token", text),
            ("name", text),
            ("password", text),
            ("again", text),
            ("next", text),
        ];
        let page = ann.submit("/setup", &fields).await;
        expect_no_markup(page, text).await;
    }
    ann.set_up(&team.parlor, "ann").await;
    let mut eve = team.browser();
    for text in hostile {
        let fields = [("name", text), ("password", text), ("next", text)];
        expect_no_markup(eve.submit("/sign-in", &fields).await, text).await;
        let page = eve.get("/sign-in").query(&[("next", text)]).send().await.unwrap();
        expect_no_markup(page, text).await;
    }
}

/// Checks that a page has neither a text as markup nor any script but the one that its policy names.
async fn expect_no_markup(page: reqwest::Response, text: &str) {
    let policy = page.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.contains("script-src 'sha256-") && !policy.contains("unsafe"),
        "{policy}"
    );
    let page = page.text().await.unwrap();
    assert!(!page.contains(text), "{text}");
    assert_eq!(page.matches("<script").count(), 1, "{text}");
    // The mark is one.
    assert_eq!(page.matches("<svg").count(), 1, "{text}");
    assert!(!page.contains("<img"), "{text}");
}
