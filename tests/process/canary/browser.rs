//! A signed-in browser that keeps everything it gets.

use reqwest::{Client, RequestBuilder, redirect::Policy};
use serde_json::{Value, json};

/// A signed-in browser, which collects what it gets.
pub(super) struct Browser {
    pub url: String,
    pub client: Client,
    pub cookie: String,
    /// Everything that came out, with its source.
    pub seen: Vec<(String, String)>,
}

impl Browser {
    /// Returns a browser that nobody has signed in with.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            client: Client::builder().redirect(Policy::none()).build().unwrap(),
            cookie: String::new(),
            seen: Vec::new(),
        }
    }

    fn request(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("cookie", &self.cookie)
    }

    pub async fn get(&mut self, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", self.url));
        let response = self.request(request).send().await.unwrap();
        let headers = format!("{:?}", response.headers());
        let body = response.bytes().await.unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        self.seen.push((path.to_owned(), headers + &body));
        body
    }

    /// Sends JSON. What comes back is collected, unless it is the only place that may have a secret.
    pub async fn post(&mut self, path: &str, body: &Value, is_collected: bool) -> String {
        let request = self.client.post(format!("{}{path}", self.url));
        let request = request.header("content-type", "application/json");
        let response = self.request(request).body(body.to_string()).send().await.unwrap();
        let text = response.text().await.unwrap();
        if is_collected {
            self.seen.push((path.to_owned(), text.clone()));
        }
        text
    }

    /// Shares a conversation by a link, and opens all that is at it as somebody else. Returns its secret.
    pub async fn share(&mut self, conversation: &str) -> String {
        let request = json!({ "conversation_id": conversation, "readers": null, "is_live": false });
        let made: Value =
            serde_json::from_str(&self.post("/rpc/create_share", &request, false).await).unwrap();
        let path = made["path"].as_str().unwrap();
        for (rest, status) in [("", 200), ("/events", 404), ("/files/x", 404)] {
            let opened = self.client.get(format!("{}{path}{rest}", self.url));
            assert_eq!(opened.send().await.unwrap().status(), status, "{rest}");
        }
        path.strip_prefix("/shared/").unwrap().to_owned()
    }

    pub async fn submit(&self, path: &str, fields: &str) -> reqwest::Response {
        let request = self.client.post(format!("{}{path}", self.url));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        self.request(request)
            .body(fields.to_owned())
            .send()
            .await
            .unwrap()
    }
}
