//! Invalid requests: each gets the documented error and changes nothing.

use serde_json::{Value, json};
use upstream::Script;

use crate::support::{model_calls, parlor_answering, read_json};

#[tokio::test]
async fn uncallable_server_function_returns_typed_error() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let cases = [
        ("/rpc/stop_run", json!({}), 400, "bad_request"),
        (
            "/rpc/stop_run",
            json!({ "message_id": "x".repeat(3_000_000) }),
            413,
            "too_large",
        ),
        ("/rpc/no_such_function", json!({}), 404, "not_found"),
        (
            "/rpc/stop_run",
            json!({ "message_id": "0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11" }),
            404,
            "not_found",
        ),
    ];
    for (path, body, status, code) in cases {
        let response = parlor.post(path, &body).send().await.unwrap();
        let (got, error) = (response.status(), read_json(response).await);
        assert_eq!(
            (got.as_u16(), &error["code"]),
            (status, &json!(code)),
            "{path} {error}"
        );
        assert!(error["message"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn bad_requests_return_problems_and_change_nothing() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let message = |body: Value| parlor.post("/api/chat/stream", &body).send();
    let cases = [
        (message(json!({})).await, 400, "bad_request"),
        (message(json!({ "message": "  " })).await, 400, "bad_request"),
        (
            message(json!({ "message": "x", "conversation_id": "7" })).await,
            400,
            "bad_request",
        ),
        (
            message(json!({ "message": "x", "conversation_history": [] })).await,
            400,
            "bad_request",
        ),
        (
            message(json!({ "message": "x".repeat(600_000) })).await,
            413,
            "too_large",
        ),
        (
            message(json!({ "message": "x".repeat(3_000_000) })).await,
            413,
            "too_large",
        ),
        (
            parlor
                .post("/api/chat/stream", &json!({ "message": "x" }))
                .header("idempotency-key", "7")
                .send()
                .await,
            400,
            "bad_request",
        ),
        (parlor.get("/api/messages/7").send().await, 404, "not_found"),
        (
            parlor
                .get("/api/runs/0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11/events")
                .send()
                .await,
            404,
            "not_found",
        ),
        (
            parlor.get("/api/events?after=minus").send().await,
            400,
            "bad_request",
        ),
        (parlor.get("/api/nothing").send().await, 404, "not_found"),
        (parlor.get("/api/").send().await, 404, "not_found"),
        (parlor.get("/api/messages/%FF").send().await, 404, "not_found"),
        (parlor.get("/api/chat/stream").send().await, 405, "wrong_method"),
        (
            parlor
                .post(
                    "/api/runs/0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11/continue",
                    &json!({}),
                )
                .send()
                .await,
            404,
            "not_found",
        ),
        (
            parlor
                .post("/api/chat/stream", &json!({ "message": "x" }))
                .header("origin", "http://evil.example")
                .send()
                .await,
            403,
            "forbidden",
        ),
        (
            parlor
                .post("/send", &json!({}))
                .header("sec-fetch-site", "cross-site")
                .send()
                .await,
            403,
            "forbidden",
        ),
        (
            parlor.get("/").header("host", "evil.example").send().await,
            403,
            "forbidden",
        ),
    ];
    for (n, (response, status, code)) in cases.into_iter().enumerate() {
        let response = response.unwrap();
        assert_eq!(response.status(), status, "case {n}");
        assert_eq!(
            response.headers()["content-type"],
            "application/problem+json",
            "case {n}"
        );
        assert_eq!(read_json(response).await["code"], code, "case {n}");
    }
    assert_eq!(model_calls(&upstream).len(), 0);
    let rpc = parlor.post("/rpc/send_message", &json!({ "intent": "x".repeat(3_000_000) }));
    assert_eq!(rpc.send().await.unwrap().status(), 413);
    let list = parlor.follow("/api/events?after=1").await.read_to_end().await;
    assert_eq!(list, [json!({ "type": "reset" })], "the log is still empty");
}

#[tokio::test]
async fn rejected_form_escapes_its_text() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let evil = "</textarea><script>alert(1)</script>&amp;";
    let message = format!("{evil}{}", "x".repeat(600_000));
    let form: String = message.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let response = parlor
        .client
        .post(format!("{}/send", parlor.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("message={form}"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 413);
    let page = response.text().await.unwrap();
    assert!(
        page.contains("&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;x"),
        "the text is kept"
    );
    assert!(!page.contains("<script>alert"), "and is nothing but text");
}
