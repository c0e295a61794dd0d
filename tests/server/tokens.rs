//! API tokens: a valid token acts as its user, from any origin; an invalid one is rejected.

use parlor_protocol::{ApiToken, PersonalData};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use upstream::Script;
use uuid::Uuid;

use crate::support::{Parlor, TEST_TIMEOUT, parlor_answering, raw_model_calls, read_json};

/// Creates a token.
pub(crate) async fn create_token(parlor: &Parlor, name: &str) -> String {
    let made = parlor
        .post("/rpc/create_token", &json!({ "name": name, "days": 30 }))
        .send()
        .await
        .unwrap();
    assert_eq!(made.status(), 200);
    read_json(made).await.as_str().expect("a token").to_owned()
}

/// Returns the list of tokens.
pub(crate) async fn list_tokens(parlor: &Parlor) -> Vec<ApiToken> {
    let personal = parlor.get("/rpc/personal").send().await.unwrap();
    let personal: PersonalData = serde_json::from_str(&personal.text().await.unwrap()).unwrap();
    personal.tokens
}

/// Revokes a token.
pub(crate) async fn revoke(parlor: &Parlor, token: &ApiToken) {
    let request = parlor.post("/rpc/revoke_token", &json!({ "token_id": token.id }));
    assert_eq!(request.send().await.unwrap().status(), 200);
}

async fn send_with_token(request: RequestBuilder, token: &str) -> Response {
    request.bearer_auth(token).send().await.unwrap()
}

/// Reads until a text was received.
async fn read_until(stream: &mut Response, what: &str) {
    let mut heard = String::new();
    while !heard.contains(what) {
        let chunk = tokio::time::timeout(TEST_TIMEOUT, stream.chunk())
            .await
            .expect("an event arrives");
        heard.push_str(&String::from_utf8_lossy(&chunk.unwrap().expect("it goes on")));
    }
}

async fn expect_unauthorized(response: Response, case: &str) {
    assert_eq!(response.status(), 401, "{case}");
    let headers = response.headers().clone();
    assert_eq!(headers["content-type"], "application/problem+json", "{case}");
    assert!(
        headers["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Bearer "),
        "{case}"
    );
    let problem = read_json(response).await;
    assert_eq!(problem["code"], "unauthorized", "{case}");
    assert!(problem["detail"].is_string(), "{case}");
}

#[tokio::test]
async fn token_allows_cross_site_requests() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "script").await;
    let from_elsewhere = |request: RequestBuilder| {
        request
            .header("origin", "https://elsewhere.example")
            .header("sec-fetch-site", "cross-site")
    };
    let message = json!({ "message": "Hi", "model": "test/any" });
    let request = || from_elsewhere(parlor.post("/api/chat/stream", &message));
    assert_eq!(
        request().send().await.unwrap().status(),
        403,
        "without it, nobody may"
    );
    let answered = send_with_token(request(), &token).await;
    assert_eq!(answered.status(), 200);
    assert!(answered.text().await.unwrap().contains("\"message\":\"yes\""));

    let rebound = parlor.get("/api/events").header("host", "evil.example");
    assert_eq!(
        send_with_token(rebound, &token).await.status(),
        403,
        "the host is checked all the same"
    );
    assert_eq!(
        parlor
            .post("/api/chat/stream", &message)
            .send()
            .await
            .unwrap()
            .status(),
        200,
        "and without a token all is as it was"
    );
}

/// Returns the preflight request for a request of another site's page.
fn preflight_request(parlor: &Parlor, path: &str, headers: &str) -> RequestBuilder {
    let url = format!("{}{path}", parlor.url);
    parlor
        .client
        .request(Method::OPTIONS, url)
        .header("origin", "https://elsewhere.example")
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-mode", "cors")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", headers)
}

#[tokio::test]
async fn cors_allows_token_requests() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "page").await;
    let wanted = "authorization,content-type,idempotency-key";
    for path in ["/api/chat/stream", "/api/events"] {
        let told = preflight_request(&parlor, path, wanted).send().await.unwrap();
        assert_eq!(told.status(), 204, "{path}");
        let said = |name: &str| told.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(said("access-control-allow-origin"), "*");
        assert!(said("access-control-allow-methods").contains("POST"));
        let allowed = said("access-control-allow-headers");
        assert!(wanted.split(',').all(|name| allowed.contains(name)), "{allowed}");
        let credentials = "access-control-allow-credentials";
        assert!(
            !told.headers().contains_key(credentials),
            "not for headers that browsers send themselves"
        );
    }
    let readable = |response: &Response| {
        let origin = response.headers().get("access-control-allow-origin");
        origin.is_some_and(|origin| origin == "*")
    };
    let message = json!({ "message": "Hi", "model": "test/any" });
    let from_elsewhere = || {
        let request = parlor.post("/api/chat/batch", &message);
        request
            .header("origin", "https://elsewhere.example")
            .header("sec-fetch-site", "cross-site")
    };
    let answered = send_with_token(from_elsewhere(), &token).await;
    assert!(answered.status() == 200 && readable(&answered), "{answered:?}");
    let refused = send_with_token(from_elsewhere(), "parlor_none").await;
    assert!(refused.status() == 401 && readable(&refused), "{refused:?}");

    // Without a token, no response can be read and nothing can be changed.
    let without = from_elsewhere().send().await.unwrap();
    assert!(without.status() == 403 && !readable(&without), "{without:?}");
    let refused = [
        preflight_request(&parlor, "/api/chat/stream", "content-type"),
        preflight_request(&parlor, "/rpc/create_token", wanted),
        preflight_request(&parlor, "/api/chat/stream", wanted).header("host", "evil.example"),
    ];
    for request in refused {
        let told = request.send().await.unwrap();
        assert!(told.status() == 403 && !readable(&told), "{told:?}");
    }
    let own = parlor.get("/api/models").send().await.unwrap();
    assert!(own.status() == 200 && !readable(&own), "{own:?}");
}

#[tokio::test]
async fn revoking_a_token_ends_batch_requests() {
    let (_folder, upstream, parlor) =
        parlor_answering(Script::new().text("half").gate("rest").text(" whole")).await;
    let secret = create_token(&parlor, "one").await;
    let message = json!({ "message": "Hi", "model": "test/any" });
    let waiting = send_with_token(parlor.post("/api/chat/batch", &message), &secret);
    let mut events = parlor.follow("/api/events?after=0").await;
    let revoking = async {
        let run = events.next_of_type("text_delta").await["message_id"].clone();
        revoke(&parlor, &list_tokens(&parlor).await[0]).await;
        run
    };
    let (refused, run) = tokio::join!(waiting, revoking);
    let words = refused.text().await.unwrap();
    assert!(
        words.contains("unauthorized") && words.contains(run.as_str().unwrap()),
        "{words}"
    );
    assert!(!words.contains("half"), "{words}");
    upstream.open_gate("rest");
    events.next_of_type("complete").await;
}

#[tokio::test]
async fn invalid_token_is_not_the_local_user() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "script").await;
    let mut other = token.clone().into_bytes();
    let last = other.last_mut().unwrap();
    *last = if *last == b'0' { b'1' } else { b'0' };
    let other = String::from_utf8(other).unwrap();
    let long = format!("Bearer parlor_{}", "0".repeat(16_000));
    let cases = [
        ("one digit is another", vec![format!("Bearer {other}")]),
        ("another scheme", vec![format!("Basic {token}")]),
        ("a password", vec!["Basic dXNlcjpwYXNz".into()]),
        ("no scheme", vec![token.clone()]),
        ("nothing", vec![String::new()]),
        ("nothing after the scheme", vec!["Bearer".into()]),
        ("another's token", vec!["Bearer sk-1234567890".into()]),
        ("more than a token", vec![format!("Bearer {token} {token}")]),
        ("a long one", vec![long]),
        (
            "twice",
            vec![format!("Bearer {token}"), format!("Bearer {token}")],
        ),
        (
            "a right one with a false one",
            vec![format!("Bearer {token}"), format!("Bearer {other}")],
        ),
    ];
    for (case, values) in cases {
        let request = parlor.post(
            "/api/chat/stream",
            &json!({ "message": "Hi", "model": "test/any" }),
        );
        let request = values
            .iter()
            .fold(request, |request, value| request.header("authorization", value));
        expect_unauthorized(request.send().await.unwrap(), case).await;
    }
    assert_eq!(raw_model_calls(&upstream), Vec::<Value>::new());
    for path in ["/api/events", "/api/nothing", "/api"] {
        expect_unauthorized(send_with_token(parlor.get(path), &other).await, path).await;
    }
    // A body that no server reads to its end is rejected, whatever its type.
    let huge = parlor
        .get("/api/events")
        .header("authorization", "x".repeat(2 << 20));
    match huge.send().await {
        Ok(response) => assert!([401, 431].contains(&response.status().as_u16()), "{response:?}"),
        Err(error) => assert!(error.is_request(), "{error}"),
    }
    assert_eq!(parlor.get("/healthz").send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn tokens_work_for_the_api_only() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "script").await;
    let make = parlor.post("/rpc/create_token", &json!({ "name": "another" }));
    expect_unauthorized(send_with_token(make, &token).await, "no token makes tokens").await;
    for path in ["/rpc/personal", "/", "/settings", "/send"] {
        expect_unauthorized(send_with_token(parlor.get(path), &token).await, path).await;
    }
    assert_eq!(list_tokens(&parlor).await.len(), 1);
}

#[tokio::test]
async fn revoking_a_token_ends_its_streams() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("half").gate("never")).await;
    let (one, two) = (
        create_token(&parlor, "one").await,
        create_token(&parlor, "two").await,
    );
    let events = async |token: &str| send_with_token(parlor.get("/api/events"), token).await;
    let (mut first, mut second) = (events(&one).await, events(&two).await);
    let conversation = Uuid::now_v7();
    let message = json!({ "message": "Hi", "model": "test/any", "conversation_id": conversation });
    let run = send_with_token(parlor.post("/api/chat/stream", &message), &one).await;
    assert_eq!(
        (first.status(), second.status()),
        (200.try_into().unwrap(), 200.try_into().unwrap())
    );

    read_until(&mut second, "text_delta").await;

    let all = list_tokens(&parlor).await;
    let token = all
        .iter()
        .find(|token| token.name == "one")
        .expect("it is listed");
    assert!(one.starts_with(&token.beginning) && token.expires_at.is_some());
    revoke(&parlor, token).await;
    expect_unauthorized(events(&one).await, "revoked").await;
    let ends = async { while first.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(TEST_TIMEOUT, ends)
        .await
        .expect("its stream of events ends");
    let ends = tokio::time::timeout(TEST_TIMEOUT, run.text());
    let said = ends.await.expect("the stream of its run ends").unwrap();
    assert!(!said.contains("\"complete\""), "{said}");
    // The other stream continues and receives later events.
    revoke(&parlor, token).await;
    let title = json!({ "title": "What happens next" });
    let rename = parlor
        .client
        .patch(format!("{}/api/conversations/{conversation}", parlor.url));
    let rename = rename.header("content-type", "application/json");
    assert_eq!(rename.body(title.to_string()).send().await.unwrap().status(), 200);
    read_until(&mut second, "What happens next").await;
    assert_eq!(list_tokens(&parlor).await.len(), 1);
}

#[tokio::test]
async fn rejects_expired_tokens() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "old").await;
    assert_eq!(
        send_with_token(parlor.get("/api/messages/7"), &token)
            .await
            .status(),
        404
    );
    parlor.stop().await;
    let database = folder.path().join("parlor.db");
    let expire = "UPDATE api_tokens SET expires_at = 1";
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query(expire).execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let refused = send_with_token(parlor.get("/api/messages/7"), &token).await;
    expect_unauthorized(refused, "expired").await;
}

#[tokio::test]
async fn records_last_use_and_never_the_token() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let token = create_token(&parlor, "script").await;
    assert_eq!(list_tokens(&parlor).await[0].last_used_at, None);
    send_with_token(parlor.get("/api/messages/7"), &token).await;
    let used = async {
        loop {
            if let Some(at) = list_tokens(&parlor).await[0].last_used_at {
                return at;
            }
            tokio::task::yield_now().await;
        }
    };
    let at = tokio::time::timeout(TEST_TIMEOUT, used)
        .await
        .expect("it is noted");
    for _ in 0..3 {
        send_with_token(parlor.get("/api/messages/7"), &token).await;
    }
    // Events that are committed later would be visible now.
    parlor
        .post("/rpc/save_instructions", &json!({ "text": "x" }))
        .send()
        .await
        .unwrap();
    assert_eq!(
        list_tokens(&parlor).await[0].last_used_at,
        Some(at),
        "once a minute"
    );
    parlor.stop().await;
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.is_file()) {
        let bytes = std::fs::read(&path).unwrap();
        let is_there = bytes.windows(token.len()).any(|bytes| bytes == token.as_bytes());
        assert!(!is_there, "{}", path.display());
    }
}

#[tokio::test]
async fn rejects_invalid_token_requests() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let cases = [
        json!({ "name": "  " }),
        json!({ "name": "x".repeat(201) }),
        json!({ "name": "x", "days": 0 }),
        json!({ "name": "x", "days": 1_000_000 }),
    ];
    for body in cases {
        let refused = parlor.post("/rpc/create_token", &body).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{body}");
        assert_eq!(read_json(refused).await["code"], "bad_request", "{body}");
    }
    let elsewhere = parlor
        .post("/rpc/create_token", &json!({ "name": "x" }))
        .header("origin", "https://elsewhere.example");
    assert_eq!(elsewhere.send().await.unwrap().status(), 403);
    assert_eq!(list_tokens(&parlor).await, []);
    let made = parlor.post("/rpc/create_token", &json!({ "name": " a  b " }));
    let token = read_json(made.send().await.unwrap()).await;
    assert!(matches!(&token, Value::String(token) if token.starts_with("parlor_")));
    assert_eq!(list_tokens(&parlor).await[0].name, "a b");
}
