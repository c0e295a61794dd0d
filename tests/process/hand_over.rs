//! A crash while a user is deleted and what they have is handed over: the next start continues it.

use std::{fs, path::Path};

use reqwest::{Client, RequestBuilder, redirect::Policy};
use serde_json::json;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{Server, TEST_TIMEOUT, WITHOUT_TITLES, client::query_sql};

const PASSWORD: &str = "a+long+password";

/// A signed-in browser.
struct Browser {
    client: Client,
    cookie: String,
}

impl Browser {
    /// Sends a form that makes an account and signs in.
    async fn sign_up(server: &Server, path: &str, fields: &str) -> Self {
        parlor_web::http_client::install_tls();
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        let request = client.post(format!("{}{path}", server.url));
        let body = format!("{fields}&password={PASSWORD}&again={PASSWORD}");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let made = request.body(body).send().await.unwrap();
        assert_eq!(made.status(), 303, "{path}");
        let cookie = made.headers()["set-cookie"].to_str().unwrap();
        Self {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            client,
        }
    }

    fn request(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("cookie", &self.cookie)
    }

    async fn page(&self, server: &Server, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", server.url));
        let page = self.request(request).send().await.unwrap();
        page.text().await.unwrap()
    }

    async fn delete(&self, server: &Server, fields: String) -> reqwest::Result<String> {
        let request = self.client.post(format!("{}/settings/users/delete", server.url));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        self.request(request).body(fields).send().await?.text().await
    }
}

/// Returns the text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).expect(start);
    rest.split(end).next().expect(end)
}

/// Starts a server with accounts.
async fn start(data: &Path, upstream: &Upstream, point: Option<&str>) -> Server {
    let mut command = match point {
        Some(point) => Server::failpoint_command(data, upstream, point),
        None => Server::command(data, upstream, "127.0.0.1:0"),
    };
    Server::run(command.env("PARLOR_AUTH", "password")).await
}

async fn crash_and_resume(point: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("Leptos.toml"),
        format!("[accounts]\nsign_up = \"open\"\n{WITHOUT_TITLES}"),
    )
    .unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes.").gate("never"));
    let mut server = start(folder.path(), &upstream, Some(point)).await;
    let line = timeout(TEST_TIMEOUT, server.output.next_line()).await;
    let line = line.unwrap().unwrap().unwrap();
    let (_, token) = line.split_once("token=").expect("a setup token");
    let ann = Browser::sign_up(&server, "/setup", &format!("token={token}&name=ann")).await;
    let ben = Browser::sign_up(&server, "/sign-up", "name=ben").await;
    // His answer is still being written.
    let turn = json!({ "message": "A plan", "model": "openai/echo" }).to_string();
    let request = ben.client.post(format!("{}/api/chat/stream", server.url));
    let request = request.header("content-type", "application/json").body(turn);
    let stream = ben.request(request).send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let users = ann.page(&server, "/settings/users").await;
    let user = between(&users, "name=\"user\" value=\"", "\"").to_owned();
    let form = ann.delete(&server, format!("user={user}")).await.unwrap();
    let heir = between(&form, "<option value=\"", "\"").to_owned();
    let broken = ann
        .delete(&server, format!("user={user}&sure=yes&heir={heir}"))
        .await;
    assert!(broken.is_err(), "it crashes");
    server.expect_crash().await;
    let accounts: i64 = query_sql(folder.path(), "SELECT count(*) FROM accounts").await;
    let own: i64 = query_sql(
        folder.path(),
        "SELECT count(*) FROM conversations WHERE user_id = (SELECT user_id FROM pending_deletions)",
    )
    .await;
    assert_eq!((accounts, own), (2, 1), "nothing is lost");

    let server = start(folder.path(), &upstream, None).await;
    let resumed = timeout(TEST_TIMEOUT, async {
        while ann.page(&server, "/settings/users").await.contains(&user) {}
    });
    resumed.await.expect("the deletion ends");
    let list = ann.page(&server, "/api/conversations").await;
    assert!(list.contains("A plan"), "{list}");
    let audit = ann.page(&server, "/settings/audit").await;
    assert_eq!(
        audit
            .matches("handed over what was in the account ben to ann")
            .count(),
        1,
        "{audit}"
    );
    server.kill().await;
    let left: i64 = query_sql(folder.path(), "SELECT count(*) FROM pending_deletions").await;
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_crash_in_a_hand_over_is_resumed() {
    for point in ["deletion::begun", "deletion::stopped"] {
        crash_and_resume(point).await;
    }
}
