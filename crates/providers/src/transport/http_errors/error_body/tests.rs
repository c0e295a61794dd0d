use serde_json::json;

use super::*;

#[test]
fn keeps_the_words_of_every_form() {
    for (json, message) in [
        (
            json!({ "error": { "message": "no", "type": "t", "code": 1 } }),
            "no",
        ),
        (json!({ "error": "no" }), "no"),
        (
            json!([{ "error": { "code": 400, "message": "no", "status": "INVALID_ARGUMENT" } }]),
            "no",
        ),
        (json!([{ "error": "one" }, { "error": "two" }]), "one; two"),
        (
            json!({ "object": "error", "message": "no", "type": "BadRequestError", "code": 400 }),
            "no",
        ),
        (json!({ "detail": "no" }), "no"),
        (
            json!({ "detail": [
                { "type": "missing", "loc": ["body", "messages", 0], "msg": "Field required", "input": {} },
                { "loc": ["body"], "msg": "Too long" },
            ] }),
            "body.messages.0: Field required; body: Too long",
        ),
        (
            json!({ "object": "error", "message": { "detail": [{ "loc": ["body", "x"], "msg": "Extra" }] } }),
            "body.x: Extra",
        ),
        (json!({ "detail": { "error": { "message": "no" } } }), "no"),
        (
            json!({ "choices": [{ "delta": {}, "error": { "code": 502, "message": "no" } }] }),
            "no",
        ),
        (
            json!({ "error": "invalid_request", "error_description": "not so" }),
            "not so",
        ),
        (json!({ "error": true, "message": "no" }), "no"),
        (json!({ "error": null, "message": "no" }), "no"),
        (
            json!({ "error": {}, "msg": "no", "code": 401, "success": false }),
            "no",
        ),
        (
            json!({ "errors": [{ "message": "one" }, { "message": "two" }] }),
            "one; two",
        ),
        (
            json!({ "fault": { "faultstring": "no", "detail": { "errorcode": "x" } } }),
            "no",
        ),
        (
            json!({ "base_resp": { "status_code": 1004, "status_msg": "login fail" } }),
            "login fail",
        ),
        (json!({ "Message": "no" }), "no"),
        (json!({ "title": "Bad", "status": 400, "detail": "no" }), "no"),
        (
            json!({ "message": "{\"error\":{\"message\":\"inner\"}}" }),
            "inner",
        ),
        (
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": {
                "raw": "{\"error\":{\"message\":\"too long\"}}", "provider_name": "X" } } }),
            "Provider returned error: too long",
        ),
        // Spring, NestJS, .NET, Tencent, LiteLLM, Cloudflare, AWS.
        (
            json!({ "timestamp": 1, "status": 400, "error": "Bad Request", "message": "Not readable", "path": "/v1" }),
            "Bad Request: Not readable",
        ),
        (
            json!({ "statusCode": 400, "message": ["model must be a string", "x is odd"], "error": "Bad Request" }),
            "Bad Request: model must be a string; x is odd",
        ),
        (
            json!({ "type": "https://x.example/400", "title": "Errors occurred.", "status": 400,
                "errors": { "Model": ["The Model field is required."], "n": "odd" } }),
            "Errors occurred: Model: The Model field is required.; n: odd",
        ),
        (
            json!({ "Response": { "Error": { "Code": "InvalidParameter", "Message": "no" }, "RequestId": "1" } }),
            "no",
        ),
        (
            json!({ "error": "Too busy now", "message": "Too busy now, wait" }),
            "Too busy now, wait",
        ),
        (
            json!({ "success": false, "errors": [{ "code": 7009, "message": "no" }], "messages": [], "result": null }),
            "no",
        ),
        (json!({ "__type": "ValidationException", "message": "no" }), "no"),
        (
            json!({ "error": ["Error in `parameters`: no"] }),
            "Error in `parameters`: no",
        ),
        (json!({ "error_code": 336_003, "error_msg": "no" }), "no"),
        (
            json!({ "code": 3, "message": "no", "details": [{ "@type": "x" }] }),
            "no",
        ),
        (json!({ "error": { "message": "" } }), ""),
        (json!({ "odd": 1 }), "{\"odd\":1}"),
        (json!(7), "7"),
    ] {
        assert_eq!(ServerErrorBody::from_json(&json).message, message, "{json}");
    }
    for body in [
        "data: {\"error\":{\"message\":\"no\"}}\n\n",
        "event: error\ndata: {\"message\":\"no\"}\n\n",
        "{\"error\":{\"message\":\"no\",\"score\":NaN}}",
    ] {
        assert_eq!(
            ServerErrorBody::from_body(body.as_bytes()).message,
            "no",
            "{body}"
        );
    }
}

#[test]
fn xml_keeps_its_words_and_pages_do_not() {
    for (body, message) in [
        (
            "<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code><Message>Please wait.</Message></Error>",
            "Please wait.",
        ),
        ("<error><message> no </message></error>", "no"),
        ("<html><body><h1>502 Bad Gateway</h1></body></html>", ""),
        ("<Message>", ""),
    ] {
        assert_eq!(
            ServerErrorBody::from_body(body.as_bytes()).message,
            message,
            "{body}"
        );
    }
}

#[test]
fn reads_the_beginning_of_a_long_list() {
    let of_list = |errors: Vec<String>| ServerErrorBody::from_json(&json!(errors)).message;
    let many = (0..50_000).map(|at| format!("fault {at}")).collect();
    let first: Vec<String> = (0..MAX_LISTED).map(|at| format!("fault {at}")).collect();
    assert_eq!(of_list(many), first.join("; "));
    let long = ["a", "b", "c"].map(|letter| letter.repeat(MAX_LISTED_BYTES - 1));
    let [a, b, _] = &long;
    assert_eq!(of_list(long.to_vec()), format!("{a}; {b}"));
}

#[test]
fn keeps_the_codes() {
    let code = |json: Value| ServerErrorBody::from_json(&json).code;
    assert_eq!(
        code(json!({ "error": { "message": "?", "code": 503, "type": "T" } })),
        "503 t"
    );
    assert_eq!(
        code(json!([{ "error": { "message": "?", "status": "INTERNAL" } }])),
        "internal"
    );
    assert_eq!(
        code(json!({ "error": "slow_down", "message": "Wait." })),
        "slow_down"
    );
    assert_eq!(
        code(json!({ "choices": [{ "error": { "code": 502, "message": "?" } }] })),
        "502"
    );
}

#[test]
fn tells_errors_from_content() {
    for error in [
        json!({ "detail": "no" }),
        json!({ "detail": [{ "msg": "no" }] }),
        json!([{ "error": { "message": "no" } }]),
        json!({ "object": "error", "message": "no" }),
        json!({ "choices": [{ "error": { "message": "no" } }] }),
        json!({ "choices": [], "error": "no" }),
        json!({ "code": "InvalidParameter", "message": "no", "request_id": "1" }),
        json!({ "success": false, "msg": "no" }),
        json!({ "base_resp": { "status_code": 1004, "status_msg": "no" } }),
    ] {
        assert!(is_error(&error), "{error}");
    }
    for other in [
        json!({ "choices": [{ "delta": { "role": "assistant" }, "error": null }], "error": null }),
        json!({ "type": "response.created", "response": { "error": null } }),
        json!({ "type": "response.mcp_call.failed", "error": "no" }),
        json!({ "type": "ping" }),
        json!({ "type": "message_delta", "delta": {}, "message": "x" }),
        json!({ "id": "1", "object": "chat.completion.chunk", "choices": [], "message": "" }),
        json!({ "base_resp": { "status_code": 0, "status_msg": "success" } }),
        json!({ "usage": {}, "error": {} }),
        json!(null),
        json!([]),
    ] {
        assert!(!is_error(&other), "{other}");
    }
}
