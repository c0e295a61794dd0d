//! Requests that a page of another site can make a browser send, and requests that no browser sends: the
//! rejections.

use parlor_tools::ToolRegistry;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tracing::Level;
use upstream::{Script, When};

use crate::{
    fuzz::{
        captures::LogCapture,
        targets::{Ids, all_targets},
    },
    support::{Parlor, parlor_answering, parlor_with_tools, read_json as body},
    tools::PayloadTool,
};

const CONVERSATIONS_PATH: &str = "/rpc/conversations";

async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

fn request(parlor: &Parlor, method: &str, path: &str) -> RequestBuilder {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    parlor.client.request(method, format!("{}{path}", parlor.url))
}

#[tokio::test]
async fn upgrades_are_refused_everywhere() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new()).await;
    for path in ["/rpc/models", "/api/models", "/", "/literature", "/healthz"] {
        let upgrade = parlor
            .get(path)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket");
        let upgrade = upgrade.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(status(upgrade).await, 403, "{path}");
        let offer = parlor.get(path).header("upgrade", "h2c");
        assert_eq!(status(offer).await, 200, "{path}: programs offer HTTP/2 unasked");
    }
    drop(upstream);
}

#[tokio::test]
async fn rejects_other_origins_for_every_method() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for path in [
        "/",
        "/rpc/models",
        "/rpc/events",
        "/api/models",
        "/send",
        "/healthz",
        "/v1/models",
    ] {
        for method in ["GET", "HEAD", "POST", "OPTIONS", "PURGE"] {
            let theirs = request(&parlor, method, path).header("origin", "http://evil.example");
            assert_eq!(status(theirs).await, 403, "{method} {path}");
            let both = request(&parlor, method, path)
                .header("origin", &parlor.url)
                .header("origin", "http://evil.example");
            assert_eq!(status(both).await, 403, "{method} {path}");
        }
    }
    let own = parlor.get("/rpc/models").header("origin", &parlor.url);
    assert_eq!(status(own).await, 200);
}

#[tokio::test]
async fn server_functions_take_json_only() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let post = |kinds: &[&str]| {
        let request = request(&parlor, "POST", CONVERSATIONS_PATH).body(r#"{"before":null}"#);
        kinds
            .iter()
            .fold(request, |request, kind| request.header("content-type", *kind))
    };
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(status(post(&[kind])).await, 200, "{kind}");
    }
    for kind in [
        "text/plain",
        "text/plain; x=application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "",
    ] {
        let refused = post(&[kind]).send().await.unwrap();
        assert_eq!(refused.status(), 415, "{kind}");
        assert_eq!(body(refused).await["code"], "unsupported_media_type");
    }
    assert_eq!(status(post(&[])).await, 415);
    assert_eq!(status(post(&["application/json", "text/plain"])).await, 400);
}

#[tokio::test]
async fn server_functions_refuse_other_methods_quietly() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let log = LogCapture::start(Level::ERROR);
    for (path, allowed) in [(CONVERSATIONS_PATH, "POST"), ("/rpc/models", "GET,HEAD")] {
        for method in ["PUT", "DELETE", "OPTIONS", "PURGE"] {
            let refused = request(&parlor, method, path).send().await.unwrap();
            assert_eq!(refused.status(), 405, "{method} {path}");
            assert_eq!(refused.headers()["allow"], allowed, "{method} {path}");
            assert_eq!(body(refused).await["code"], "wrong_method");
        }
    }
    let preflight = request(&parlor, "OPTIONS", CONVERSATIONS_PATH)
        .header("origin", "http://evil.example")
        .header("access-control-request-method", "POST");
    let refused = preflight.send().await.unwrap();
    assert!(refused.headers().get("access-control-allow-origin").is_none());
    assert_eq!(refused.status(), 403);
    assert_eq!(log.text(), "");
}

#[tokio::test]
async fn head_responds_as_get_without_a_body() {
    let tools = ToolRegistry::default().with_tool(PayloadTool("Here it is."));
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    upstream.add_script_times(
        1,
        When::any(),
        Script::new().tool_call("id0", "make", r#"{"kind":"table","data":[[1.5]]}"#),
    );
    upstream.add_script(When::tool_gave("Here it is."), Script::new().text("Done."));
    let ids = Ids::from_turn(&parlor.turn(None, "Give").await);
    let mut functions = 0;
    for target in all_targets().into_iter().filter(|target| target.method == "GET") {
        functions += usize::from(target.path.starts_with("/rpc/"));
        let url = target.url(&ids);
        let [get, head] = ["GET", "HEAD"].map(|method| request(&parlor, method, &url).send());
        // The body of a stream never ends.
        let (get, head) = (get.await.unwrap(), head.await.unwrap());
        assert_eq!(head.status(), get.status(), "{url}");
        let kind = "content-type";
        assert_eq!(head.headers().get(kind), get.headers().get(kind), "{url}");
        assert_eq!(head.bytes().await.unwrap().len(), 0, "{url}");
    }
    assert!(functions > 10, "{functions}");
}

#[tokio::test]
async fn long_errors_keep_their_status() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let long = "é".repeat(400_000);
    let rpc = json!({ "message_id": "x", "index": 0, "answer": long });
    let api = json!({ "index": 0, "answer": long });
    let run = uuid::Uuid::now_v7();
    for (path, body) in [
        ("/rpc/answer_approval".to_owned(), rpc),
        (format!("/api/runs/{run}/approvals"), api),
    ] {
        let refused = parlor.post(&path, &body).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{path}");
        assert!(refused.bytes().await.unwrap().len() < 4000, "{path}");
    }
}

#[tokio::test]
async fn rejects_non_numeric_last_event_ids() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for path in ["/api/events", "/api/events?after=0", "/rpc/events"] {
        for id in ["é", "\u{ff}", "7é", "x", ""] {
            let value = reqwest::header::HeaderValue::from_bytes(id.as_bytes()).unwrap();
            let refused = parlor
                .get(path)
                .header("last-event-id", value)
                .send()
                .await
                .unwrap();
            assert_eq!(refused.status(), 400, "{path} {id}");
            assert_eq!(body(refused).await["code"], "bad_request");
        }
        let twice = parlor
            .get(path)
            .header("last-event-id", "0")
            .header("last-event-id", "1");
        assert_eq!(status(twice).await, 400, "{path}");
    }
}

#[tokio::test]
async fn unknown_url_lists_known_routes() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for path in [
        "/api",
        "/api/nothing",
        "/api/models/",
        "/v1",
        "/v1/chat/completions",
        "/v1/models",
    ] {
        for method in ["GET", "POST", "DELETE", "OPTIONS", "PURGE"] {
            let unknown = request(&parlor, method, path).send().await.unwrap();
            assert_eq!(unknown.status(), 404, "{method} {path}");
            assert_eq!(unknown.headers()["content-type"], "application/problem+json");
            let problem: Value = body(unknown).await;
            let urls = problem["addresses"].as_array().unwrap();
            assert!(urls.contains(&json!("POST /api/chat/stream")), "{problem}");
            assert!(
                problem["detail"].as_str().unwrap().contains("/api/openapi.json"),
                "{problem}"
            );
        }
    }
    for path in ["/", "/send", "/healthz", "/literature"] {
        let wrong = request(&parlor, "PURGE", path).send().await.unwrap();
        assert_eq!(wrong.status(), 405, "{path}");
        assert!(wrong.headers().contains_key("allow"), "{path}");
        assert_eq!(body(wrong).await["code"], "wrong_method", "{path}");
    }
}

#[tokio::test]
async fn browsers_get_an_html_error_page() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let html = "text/html,application/xhtml+xml";
    let refused = parlor
        .get("/")
        .header("accept", html)
        .header("host", "chat.example");
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 403);
    assert!(
        refused.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    let page = refused.text().await.unwrap();
    assert!(
        page.contains("\"chat.example\" to the setting server.allowed_hosts"),
        "{page}"
    );

    // A script of another site cannot open a search; a click by the user can.
    let led = |click: bool| {
        let request = parlor.get("/literature?q=%22%3Cb%3E").header("accept", html);
        let request = request
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", "navigate");
        let request = request.header("sec-fetch-dest", "document");
        if click {
            request.header("sec-fetch-user", "?1")
        } else {
            request
        }
    };
    let asked = led(false).send().await.unwrap();
    assert_eq!(asked.status(), 403);
    let page = asked.text().await.unwrap();
    assert!(page.contains("href=\"/literature?q=%22%3Cb%3E\""), "{page}");
    assert_eq!(status(led(true)).await, 200);
}

#[tokio::test]
async fn get_requests_to_server_functions_change_nothing() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let turn = parlor.turn(None, "Hello").await;
    let head = turn.last().unwrap()["position"].as_u64().unwrap();
    let ids = Ids::from_turn(&turn);
    let before = parlor.transcript(&ids.conversation).await;
    let mut asked = 0;
    for target in crate::fuzz::targets::server_functions()
        .into_iter()
        .filter(|target| target.method == "GET")
    {
        asked += 1;
        let url = target.url(&ids);
        let response = parlor.get(&url).send().await.unwrap();
        // PubMed is unavailable.
        assert!(response.status() != 500, "{url}");
    }
    assert!(asked >= 8, "{asked}");
    assert_eq!(parlor.transcript(&ids.conversation).await, before);
    let list = parlor
        .post(CONVERSATIONS_PATH, &json!({ "before": null }))
        .send()
        .await
        .unwrap();
    assert_eq!(body(list).await["as_of"], head, "no event was logged");
}
