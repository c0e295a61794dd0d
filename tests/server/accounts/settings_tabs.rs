//! The tabs of the settings that the server makes: as pages of the application, and as parts that it requests.

use parlor_ui::PART_HEADER;

use super::Team;

#[tokio::test]
async fn tabs_are_pages_of_the_application() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let ben = ann.invite(&team.parlor, "ben").await;
    for (browser, name, path, has_users) in [
        (&ann, "ann", "/settings/users", true),
        (&ben, "ben", "/settings/devices", false),
    ] {
        let page = browser.get(path).send().await.unwrap();
        assert_eq!(page.status(), 200, "{path}");
        assert!(page.headers().contains_key("content-security-policy"));
        let page = page.text().await.unwrap();
        let body = page.split_once("<body>").expect("a body").1;
        // The list beside it, with the person at its foot; the tabs; the content.
        assert!(body.contains("id=\"sidebar\"") && body.contains(name), "{body}");
        assert_eq!(body.contains("href=\"/settings/users\""), has_users, "{body}");
        assert_eq!(body.matches("class=\"settings-list\"").count(), 1, "{body}");
        assert!(body.contains("action=\"/sign-out\""), "without scripts, too");
    }
}

#[tokio::test]
async fn parts_have_the_content_alone() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let part = ann.get("/settings/devices").header(PART_HEADER, "1");
    let part = part.send().await.unwrap();
    assert_eq!(part.headers()[PART_HEADER], "1");
    assert_eq!(part.headers()["cache-control"], "no-store");
    let part = part.text().await.unwrap();
    assert!(
        part.contains("This device") && !part.contains("<html") && !part.contains("sidebar"),
        "{part}"
    );
    // Nobody else gets one: the browser is led to the page for signing in, which is none.
    let nobody = team.browser().get("/settings/devices").header(PART_HEADER, "1");
    let nobody = nobody.send().await.unwrap();
    assert_eq!(nobody.status(), 303);
    assert!(!nobody.headers().contains_key(PART_HEADER));
}

#[tokio::test]
async fn failed_form_keeps_its_status_and_tab() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    let path = "/settings/account/password";
    let form = ann.signed_in_client().post(format!("{}{path}", team.parlor.url));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let page = form.body("old=x&password=y&again=z").send().await.unwrap();
    assert_eq!(page.status(), 400);
    let page = page.text().await.unwrap();
    assert!(
        page.contains("The two new passwords differ") && page.contains("id=\"sidebar\""),
        "{page}"
    );
    // A reload of it opens the tab.
    assert!(page.contains("data-address=\"/settings/account\""), "{page}");
    let again = ann.get(path).send().await.unwrap();
    assert_eq!(
        (again.status().as_u16(), &again.headers()["location"]),
        (303, &"/settings/account".parse().unwrap())
    );
}

#[tokio::test]
async fn earlier_addresses_lead_to_the_tabs() {
    let team = Team::start(|_| {}).await;
    let mut ann = team.browser();
    ann.set_up(&team.parlor, "ann").await;
    for (path, tab) in [
        ("/account?done=password", "/settings/account?done=password"),
        ("/account/usage", "/settings/usage"),
        ("/account/users", "/settings/users"),
        ("/account/users/usage?user=x", "/settings/usage/all?user=x"),
        ("/account/audit?before=5", "/settings/audit?before=5"),
    ] {
        let moved = ann.get(path).send().await.unwrap();
        assert_eq!(
            (
                moved.status().as_u16(),
                moved.headers()["location"].to_str().unwrap()
            ),
            (308, tab)
        );
    }
}
