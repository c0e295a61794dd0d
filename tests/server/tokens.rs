//! API tokens: who has one is its user, from wherever; who has a false one is nobody.

use parlor::protocol::{ApiToken, Personal};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use upstream::Script;
use uuid::Uuid;

use crate::support::{Parlor, SOON, answering, calls_as_sent, json};

/// Makes a token.
async fn token(parlor: &Parlor, name: &str) -> String {
    let made = parlor
        .post("/rpc/make_token", &json!({ "name": name, "days": 30 }))
        .send()
        .await
        .unwrap();
    assert_eq!(made.status(), 200);
    json(made).await.as_str().expect("a token").to_owned()
}

/// What there is of tokens.
async fn tokens(parlor: &Parlor) -> Vec<ApiToken> {
    let personal = parlor.get("/rpc/personal").send().await.unwrap();
    let personal: Personal = serde_json::from_str(&personal.text().await.unwrap()).unwrap();
    personal.tokens
}

async fn revoke(parlor: &Parlor, token: &ApiToken) {
    let request = parlor.post("/rpc/revoke_token", &json!({ "token_id": token.id }));
    assert_eq!(request.send().await.unwrap().status(), 200);
}

async fn send(request: RequestBuilder, token: &str) -> Response {
    request.bearer_auth(token).send().await.unwrap()
}

/// Reads on until something is said.
async fn hear(stream: &mut Response, what: &str) {
    let mut heard = String::new();
    while !heard.contains(what) {
        let chunk = tokio::time::timeout(SOON, stream.chunk())
            .await
            .expect("something comes");
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
    let problem = json(response).await;
    assert_eq!(problem["code"], "unauthorized", "{case}");
    assert!(problem["detail"].is_string(), "{case}");
}

#[tokio::test]
async fn who_has_a_token_may_come_from_another_site() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "script").await;
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
    let answered = send(request(), &token).await;
    assert_eq!(answered.status(), 200);
    assert!(answered.text().await.unwrap().contains("\"message\":\"yes\""));

    let rebound = parlor.get("/api/events").header("host", "evil.example");
    assert_eq!(
        send(rebound, &token).await.status(),
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

/// What a browser asks before it sends what a page of another site wants to send.
fn preflight(parlor: &Parlor, path: &str, headers: &str) -> RequestBuilder {
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
async fn a_browser_lets_a_page_of_another_site_send_a_token_and_read_the_answer() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "page").await;
    let wanted = "authorization,content-type,idempotency-key";
    for path in ["/api/chat/stream", "/api/events"] {
        let told = preflight(&parlor, path, wanted).send().await.unwrap();
        assert_eq!(told.status(), 204, "{path}");
        let said = |name: &str| told.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(said("access-control-allow-origin"), "*");
        assert!(said("access-control-allow-methods").contains("POST"));
        let allowed = said("access-control-allow-headers");
        assert!(wanted.split(',').all(|name| allowed.contains(name)), "{allowed}");
        let credentials = "access-control-allow-credentials";
        assert!(
            !told.headers().contains_key(credentials),
            "nothing that it sends by itself"
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
    let answered = send(from_elsewhere(), &token).await;
    assert!(answered.status() == 200 && readable(&answered), "{answered:?}");
    let refused = send(from_elsewhere(), "parlor_none").await;
    assert!(refused.status() == 401 && readable(&refused), "{refused:?}");

    // Who has none is told nothing that can be read, and can't do anything.
    let without = from_elsewhere().send().await.unwrap();
    assert!(without.status() == 403 && !readable(&without), "{without:?}");
    let refused = [
        preflight(&parlor, "/api/chat/stream", "content-type"),
        preflight(&parlor, "/rpc/make_token", wanted),
        preflight(&parlor, "/api/chat/stream", wanted).header("host", "evil.example"),
    ];
    for request in refused {
        let told = request.send().await.unwrap();
        assert!(told.status() == 403 && !readable(&told), "{told:?}");
    }
    let own = parlor.get("/api/models").send().await.unwrap();
    assert!(own.status() == 200 && !readable(&own), "{own:?}");
}

#[tokio::test]
async fn who_waits_for_a_whole_answer_is_shut_out_too_when_the_token_is_revoked() {
    let (_folder, upstream, parlor) = answering(Script::new().text("half").gate("rest").text(" whole")).await;
    let secret = token(&parlor, "one").await;
    let message = json!({ "message": "Hi", "model": "test/any" });
    let waiting = send(parlor.post("/api/chat/batch", &message), &secret);
    let mut events = parlor.follow("/api/events?after=0").await;
    let revoking = async {
        let run = events.until("text_delta").await["message_id"].clone();
        revoke(&parlor, &tokens(&parlor).await[0]).await;
        run
    };
    let (refused, run) = tokio::join!(waiting, revoking);
    let words = refused.text().await.unwrap();
    assert!(
        words.contains("unauthorized") && words.contains(run.as_str().unwrap()),
        "{words}"
    );
    assert!(!words.contains("half"), "{words}");
    upstream.release("rest");
    events.until("complete").await;
}

#[tokio::test]
async fn a_false_token_is_not_the_local_user() {
    let (_folder, upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "script").await;
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
            "a right one beside a false one",
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
    assert_eq!(calls_as_sent(&upstream), Vec::<Value>::new());
    for path in ["/api/events", "/api/nothing", "/api"] {
        expect_unauthorized(send(parlor.get(path), &other).await, path).await;
    }
    // What no server reads to its end: whatever it is called, it is not let in.
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
async fn a_token_is_for_the_api_alone() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "script").await;
    let make = parlor.post("/rpc/make_token", &json!({ "name": "another" }));
    expect_unauthorized(send(make, &token).await, "no token makes tokens").await;
    for path in ["/rpc/personal", "/", "/settings", "/send"] {
        expect_unauthorized(send(parlor.get(path), &token).await, path).await;
    }
    assert_eq!(tokens(&parlor).await.len(), 1);
}

#[tokio::test]
async fn a_revoked_token_is_shut_out_at_once_and_so_is_what_goes_on_with_it() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("half").gate("never")).await;
    let (one, two) = (token(&parlor, "one").await, token(&parlor, "two").await);
    let events = async |token: &str| send(parlor.get("/api/events"), token).await;
    let (mut first, mut second) = (events(&one).await, events(&two).await);
    let conversation = Uuid::now_v7();
    let message = json!({ "message": "Hi", "model": "test/any", "conversation_id": conversation });
    let run = send(parlor.post("/api/chat/stream", &message), &one).await;
    assert_eq!(
        (first.status(), second.status()),
        (200.try_into().unwrap(), 200.try_into().unwrap())
    );

    hear(&mut second, "text_delta").await;

    let all = tokens(&parlor).await;
    let token = all
        .iter()
        .find(|token| token.name == "one")
        .expect("it is listed");
    assert!(one.starts_with(&token.beginning) && token.expires_at.is_some());
    revoke(&parlor, token).await;
    expect_unauthorized(events(&one).await, "revoked").await;
    let ends = async { while first.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(SOON, ends)
        .await
        .expect("its stream of events ends");
    let ends = tokio::time::timeout(SOON, run.text());
    let said = ends.await.expect("the stream of its run ends").unwrap();
    assert!(!said.contains("\"complete\""), "{said}");
    // The other one goes on: it hears of what happens next.
    revoke(&parlor, token).await;
    let title = json!({ "title": "What happens next" });
    let rename = parlor
        .client
        .patch(format!("{}/api/conversations/{conversation}", parlor.url));
    let rename = rename.header("content-type", "application/json");
    assert_eq!(rename.body(title.to_string()).send().await.unwrap().status(), 200);
    hear(&mut second, "What happens next").await;
    assert_eq!(tokens(&parlor).await.len(), 1);
}

#[tokio::test]
async fn a_token_that_has_expired_is_not_taken() {
    let (folder, upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "old").await;
    assert_eq!(send(parlor.get("/api/messages/7"), &token).await.status(), 404);
    parlor.stop().await;
    let database = folder.path().join("parlor.db");
    let expire = "UPDATE api_tokens SET expires_at = 1";
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query(expire).execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let refused = send(parlor.get("/api/messages/7"), &token).await;
    expect_unauthorized(refused, "expired").await;
}

#[tokio::test]
async fn when_a_token_was_last_used_is_known_and_the_token_itself_nowhere() {
    let (folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let token = token(&parlor, "script").await;
    assert_eq!(tokens(&parlor).await[0].last_used_at, None);
    send(parlor.get("/api/messages/7"), &token).await;
    let used = async {
        loop {
            if let Some(at) = tokens(&parlor).await[0].last_used_at {
                return at;
            }
            tokio::task::yield_now().await;
        }
    };
    let at = tokio::time::timeout(SOON, used).await.expect("it is noted");
    for _ in 0..3 {
        send(parlor.get("/api/messages/7"), &token).await;
    }
    // What is committed after those would be seen now.
    parlor
        .post("/rpc/save_instructions", &json!({ "text": "x" }))
        .send()
        .await
        .unwrap();
    assert_eq!(tokens(&parlor).await[0].last_used_at, Some(at), "once a minute");
    parlor.stop().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let is_there = bytes.windows(token.len()).any(|bytes| bytes == token.as_bytes());
        assert!(!is_there, "{}", path.display());
    }
}

#[tokio::test]
async fn what_is_no_token_is_not_made() {
    let (_folder, _upstream, parlor) = answering(Script::new().text("yes")).await;
    let cases = [
        json!({ "name": "  " }),
        json!({ "name": "x".repeat(201) }),
        json!({ "name": "x", "days": 0 }),
        json!({ "name": "x", "days": 1_000_000 }),
    ];
    for body in cases {
        let refused = parlor.post("/rpc/make_token", &body).send().await.unwrap();
        assert_eq!(refused.status(), 400, "{body}");
        assert_eq!(json(refused).await["code"], "bad_request", "{body}");
    }
    let elsewhere = parlor
        .post("/rpc/make_token", &json!({ "name": "x" }))
        .header("origin", "https://elsewhere.example");
    assert_eq!(elsewhere.send().await.unwrap().status(), 403);
    assert_eq!(tokens(&parlor).await, []);
    let made = parlor.post("/rpc/make_token", &json!({ "name": " a  b " }));
    let token = json(made.send().await.unwrap()).await;
    assert!(matches!(&token, Value::String(token) if token.starts_with("parlor_")));
    assert_eq!(tokens(&parlor).await[0].name, "a b");
}
