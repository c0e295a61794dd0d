//! Sign-in at a real OpenID provider (`tests/oidc`), and what must not sign anybody in. Forged tokens:
//! `src/app/accounts/oidc/tests.rs`.
//!
//! - [`accounts`]: the accounts of a provider's users, and their sessions
//! - [`callbacks`]: the way to the provider and back

mod accounts;
mod callbacks;

use std::{collections::BTreeMap, process::Stdio};

use parlor_base::settings::{AuthMode, Secret, Settings};
use reqwest::{Client, Response, Url, header::HeaderMap, redirect::Policy};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::Team;
use crate::support::{Parlor, TEST_TIMEOUT};

/// The provider's process. It ends with this value.
struct Provider {
    url: String,
    _process: Child,
    /// Open, for what it prints later.
    _output: Lines<BufReader<ChildStdout>>,
}

impl Provider {
    async fn start() -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oidc/provider.mjs");
        let mut process = Command::new("node")
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("node");
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = timeout(TEST_TIMEOUT, async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some((_, url)) = line.split_once("The provider is ready at ") {
                    return url.to_owned();
                }
            }
            panic!("the provider did not start: npm ci in tests/oidc installs it");
        });
        let url = url.await.expect("the provider starts");
        let provider = Self {
            url,
            _process: process,
            _output: lines,
        };
        provider
            .set_users(json!({
                "ann": { "sub": "1", "preferred_username": "Ann", "email": "ann@team.example", "groups": ["staff", "admins"] },
                "ben": { "sub": "2", "preferred_username": "ben", "email": "ben@team.example", "groups": ["staff"] },
                "eve": { "sub": "3", "preferred_username": "ann", "email": "ann@team.example", "groups": [] },
            }))
            .await;
        provider
    }

    async fn control(&self, command: &str, body: Value) {
        let request = Client::new().post(format!("{}/control/{command}", self.url));
        let done = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(done.status(), 200);
    }

    async fn set_users(&self, users: Value) {
        self.control("users", users).await;
    }

    /// Lets Parlor use it.
    fn set_up(&self, settings: &mut Settings) {
        settings.accounts.auth = AuthMode::Oidc;
        settings.accounts.sign_in_attempts = 1000;
        let oidc = &mut settings.accounts.oidc;
        oidc.issuer = Some(self.url.clone());
        oidc.client_id = Some("parlor".into());
        oidc.client_secret = Some(Secret("a client secret of the tests".into()));
        oidc.name = Some("Team ID".into());
        oidc.scopes.push("groups".into());
    }
}

/// A browser with the cookies of several sites.
struct Person {
    parlor: String,
    name: &'static str,
    cookies: BTreeMap<(String, String), String>,
    client: Client,
}

impl Person {
    fn new(parlor: &Parlor, name: &'static str) -> Self {
        Self {
            parlor: parlor.url.clone(),
            name,
            cookies: BTreeMap::new(),
            client: Client::builder().redirect(Policy::none()).build().unwrap(),
        }
    }

    /// Opens a URL, or sends a form to it.
    async fn open(&mut self, url: &str, form: Option<&str>) -> Response {
        let site = Url::parse(url).unwrap().origin().ascii_serialization();
        let cookies = self.cookies.iter().filter(|((of, _), _)| *of == site);
        let cookies: Vec<_> = cookies
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        let request = match form {
            Some(form) => self
                .client
                .post(url)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.to_owned()),
            None => self.client.get(url),
        };
        let request = request
            .header("cookie", cookies.join("; "))
            .header("accept", "text/html");
        let response = request.send().await.unwrap();
        for cookie in response.headers().get_all("set-cookie") {
            let (cookie, attributes) = cookie.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = cookie.split_once('=').unwrap();
            let key = (site.clone(), name.to_owned());
            match value.is_empty() || attributes.contains("Max-Age=0") {
                true => self.cookies.remove(&key),
                false => self.cookies.insert(key, value.to_owned()),
            };
        }
        response
    }

    async fn page(&mut self, path: &str) -> (u16, String) {
        let response = self.open(&format!("{}{path}", self.parlor), None).await;
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Begins a sign-in and signs in at the provider. Returns the URL to which the provider redirects.
    async fn authorize(&mut self, next: &str, form: &str) -> String {
        let start = format!("{}/sign-in/start?next={next}", self.parlor);
        let mut at = location(&self.open(&start, None).await);
        assert!(at.contains("code_challenge_method=S256"), "{at}");
        while !at.starts_with(&self.parlor) {
            let form = at.contains("/interaction/").then_some(form);
            let here = Url::parse(&at).unwrap();
            at = here.join(&location(&self.open(&at, form).await)).unwrap().into();
        }
        at
    }

    async fn sign_in(&mut self) -> (u16, String) {
        let callback = self
            .authorize("%2Fsettings%2Faccount", &format!("user={}", self.name))
            .await;
        let response = self.open(&callback, None).await;
        let status = response.status().as_u16();
        let text = match status {
            303 => location(&response),
            _ => response.text().await.unwrap(),
        };
        (status, text)
    }

    /// Returns a client with this person's session, for the helpers of [`Parlor`].
    fn signed_in_client(&self) -> Client {
        let cookies = self.cookies.iter().filter(|((site, _), _)| *site == self.parlor);
        let cookies: Vec<_> = cookies
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        let mut headers = HeaderMap::new();
        headers.insert("cookie", cookies.join("; ").parse().unwrap());
        Client::builder().default_headers(headers).build().unwrap()
    }
}

fn location(response: &Response) -> String {
    let location = response.headers().get("location");
    let location = location.unwrap_or_else(|| panic!("{} is no redirect", response.url()));
    location.to_str().unwrap().to_owned()
}

async fn start(change: impl FnOnce(&mut Settings)) -> (Provider, Team) {
    let provider = Provider::start().await;
    let team = Team::start(|settings| {
        provider.set_up(settings);
        change(settings);
    })
    .await;
    (provider, team)
}
