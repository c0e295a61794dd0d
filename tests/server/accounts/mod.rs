//! Accounts over HTTP: setup, sign-in, sessions, links, limits, proxies, and the access of every route.

mod access;
mod audit;
mod cut_calls;
mod deletion;
mod earlier_version;
mod entry;
mod hosts;
mod limits;
mod oidc;
mod openings;
mod permissions;
mod proxy;
mod routes;
mod sessions;
mod settings_tabs;
mod usage;
mod users;

use std::time::Duration;

use parlor_base::settings::{AuthMode, Settings};
use parlor_ui::PART_HEADER;
use reqwest::{
    Client, ClientBuilder, RequestBuilder, Response,
    header::{COOKIE, HeaderMap, HeaderValue},
    redirect::Policy,
};
use tempfile::TempDir;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, TEST_TIMEOUT};

pub(crate) const PASSWORD: &str = "a long password";

/// A server with accounts.
pub(crate) struct Team {
    pub(crate) parlor: Parlor,
    folder: TempDir,
    pub(crate) upstream: Upstream,
}

/// A browser, which keeps its cookies.
#[derive(Clone)]
pub(crate) struct Browser {
    url: String,
    cookies: String,
    pub(crate) client: Client,
}

/// Enables passwords. Attempts are not limited, unless a test is about that.
pub(crate) fn with_passwords(settings: &mut Settings) {
    settings.accounts.auth = AuthMode::Password;
    settings.accounts.sign_in_attempts = 1000;
}

impl Team {
    /// Starts a server with passwords and without accounts.
    pub(crate) async fn start(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Yes."));
        let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
            with_passwords(settings);
            change(settings);
        })
        .await;
        Self {
            parlor,
            folder,
            upstream,
        }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(&self.parlor)
    }
}

impl Browser {
    pub(crate) fn new(parlor: &Parlor) -> Self {
        Self::with_client(parlor.url.clone(), Client::builder())
    }

    /// Creates a browser that reaches the server at this URL.
    pub(crate) fn with_client(url: String, client: ClientBuilder) -> Self {
        Self {
            url,
            cookies: String::new(),
            client: client.redirect(Policy::none()).build().unwrap(),
        }
    }

    /// Returns the same browser at another server.
    pub(crate) fn at(&self, parlor: &Parlor) -> Self {
        Self {
            url: parlor.url.clone(),
            ..self.clone()
        }
    }

    /// The cookies that it sends.
    pub(crate) fn cookies(&self) -> &str {
        &self.cookies
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request(self.client.get(format!("{}{path}", self.url)))
    }

    fn request(&self, request: RequestBuilder) -> RequestBuilder {
        request
            .header(COOKIE, &self.cookies)
            .header("accept", "text/html")
            .header("origin", &self.url)
    }

    /// Sends a form, and asks for the content of the answer only. Keeps the cookies of the response.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let body = serde_json::Map::from_iter(
            fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).into())),
        );
        let body = crate::fuzz::targets::form_encode(&body.into());
        let request = self.request(self.client.post(format!("{}{path}", self.url)));
        let request = request
            .header(PART_HEADER, "1")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let response = request.send().await.unwrap();
        let set = response.headers().get_all("set-cookie").iter();
        let set: Vec<_> = set
            .filter_map(|cookie| cookie.to_str().ok()?.split(';').next().map(str::to_owned))
            .collect();
        if !set.is_empty() {
            self.cookies = set.join("; ");
        }
        response
    }

    /// Makes the first account.
    pub(crate) async fn set_up(&mut self, parlor: &Parlor, name: &str) -> Response {
        let token = parlor.setup_token.clone().unwrap();
        let fields = [
            ("token", token.as_str()),
            ("name", name),
            ("password", PASSWORD),
            ("again", PASSWORD),
        ];
        self.submit("/setup", &fields).await
    }

    async fn sign_in(&mut self, name: &str, password: &str) -> Response {
        self.submit("/sign-in", &[("name", name), ("password", password)])
            .await
    }

    async fn sign_in_remembered(&mut self, name: &str) -> Response {
        let fields = [("name", name), ("password", PASSWORD), ("remember", "yes")];
        self.submit("/sign-in", &fields).await
    }

    /// Invites somebody, who accepts.
    pub(crate) async fn invite(&mut self, parlor: &Parlor, name: &str) -> Self {
        let path = self
            .new_link("/settings/invitations/invite", &[("role", "member")])
            .await;
        let mut invited = Self::new(parlor);
        let fields = [("name", name), ("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(invited.submit(&path, &fields).await.status(), 303);
        invited
    }

    /// Makes a one-time link by a form. Returns its path.
    async fn new_link(&mut self, path: &str, fields: &[(&str, &str)]) -> String {
        let page = self.submit(path, fields).await;
        assert_eq!(page.status(), 200);
        let page = page.text().await.unwrap();
        let (_, link) = page.split_once("data-copy=\"").expect("a link");
        let link = link.split('"').next().unwrap();
        link.strip_prefix(&self.url).expect("a link to here").to_owned()
    }

    /// Returns a client that sends the cookies with each request, for the helpers of [`Parlor`].
    pub(crate) fn signed_in_client(&self) -> Client {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(&self.cookies).unwrap());
        Client::builder()
            .default_headers(headers)
            .redirect(Policy::none())
            .build()
            .unwrap()
    }

    /// Returns a page, or another response, as text. A tab of the settings comes without the application around it.
    pub(crate) async fn page(&self, path: &str) -> String {
        let request = self.get(path).header(PART_HEADER, "1");
        request.send().await.unwrap().text().await.unwrap()
    }

    /// Waits until its session has expired.
    async fn wait_until_expired(&self) {
        let expired = async { while self.status().await != 401 {} };
        timeout(TEST_TIMEOUT, expired).await.expect("it expires");
    }

    /// Returns the status of a request that needs a session.
    async fn status(&self) -> u16 {
        let request = self.get("/rpc/models").send().await.unwrap();
        request.status().as_u16()
    }

    /// Returns the administrator's own id, by the form that deletes this user: they can get everything.
    pub(crate) async fn administrator_id(&mut self, name: &str) -> String {
        let user = self.user_id(name).await;
        let form = self.submit("/settings/users/delete", &[("user", &user)]).await;
        let form = form.text().await.unwrap();
        let (_, heir) = form.split_once("<option value=\"").expect("another user");
        heir.split('"').next().unwrap().to_owned()
    }

    /// Returns the id of a user by the administrator's page.
    pub(crate) async fn user_id(&self, name: &str) -> String {
        let page = self.page("/settings/users").await;
        let (_, row) = page
            .split_once(&format!("<strong>{name}</strong>"))
            .expect("the user");
        let (_, id) = row.split_once("name=\"user\" value=\"").expect("a form");
        id.split('"').next().unwrap().to_owned()
    }
}

/// The longest lifetime that a test need not wait for.
const AT_ONCE: Duration = Duration::from_millis(1);
