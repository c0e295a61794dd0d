//! The servers' error responses, and the errors for the user.

use reqwest::Url;

use super::*;
use crate::EndpointConfig;

fn facts(key: Option<&str>) -> EndpointInfo {
    let config = EndpointConfig {
        api_key: key.map(Into::into),
        api_key_source: "ACME_KEY".into(),
        base_url_source: "ACME_URL".into(),
        ..EndpointConfig::new("acme", "https://someone:hidden@acme.example/v1?token=1")
    };
    EndpointInfo::new(&config, &Url::parse(&config.base_url).unwrap())
}

fn error_of(status: u16, body: &str) -> ModelError {
    let status = StatusCode::from_u16(status).unwrap();
    error_for_status(
        &facts(Some("sk-secret")),
        Some("m-1"),
        status,
        &HeaderMap::new(),
        body.as_bytes(),
    )
}

#[test]
fn error_names_endpoint_cause_and_setting_without_secrets() {
    let error = error_of(
        401,
        r#"{"error":{"message":"Wrong key\u0007 sk-secret, someone:hidden"}}"#,
    );
    assert_eq!(error.kind, Refused);
    assert_eq!(error.error.code, "key_refused");
    assert_eq!(
        error.error.message,
        "The endpoint “acme” (https://acme.example/v1) refused the API key (401): Wrong key •••, someone:•••."
    );
    assert_eq!(
        error.error.hint,
        "Set ACME_KEY to a valid key and restart Parlor."
    );
    assert_eq!(
        format!("{:?}", facts(Some("sk-secret"))),
        "acme (https://acme.example/v1)"
    );
}

#[test]
fn distinguishes_missing_and_wrong_keys() {
    let config = EndpointConfig::new("acme", "https://acme.example/v1");
    let facts = EndpointInfo::new(&config, &Url::parse(&config.base_url).unwrap());
    let error = error_for_status(&facts, None, StatusCode::UNAUTHORIZED, &HeaderMap::new(), b"");
    assert_eq!(error.error.code, "key_missing");
    assert_eq!(
        error.error.message,
        "The endpoint “acme” (https://acme.example/v1) wants an API key, and none is set (401)."
    );
}

#[test]
fn understands_error_bodies_of_many_servers() {
    let later = Unavailable { after: None };
    for (status, body, code, kind) in [
        (
            404,
            r#"{"error":{"code":"model_not_found","message":"?"}}"#,
            "model_unknown",
            Refused,
        ),
        (
            404,
            r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#,
            "model_unknown",
            Refused,
        ),
        (
            404,
            r#"{"message":"The model `x` does not exist.","code":404}"#,
            "model_unknown",
            Refused,
        ),
        (
            400,
            r#"{"error":{"message":"Model Not Exist"}}"#,
            "model_unknown",
            Refused,
        ),
        (
            400,
            r#"{"error":{"message":"x is not a valid model ID","code":400}}"#,
            "model_unknown",
            Refused,
        ),
        (404, "<html>Not Found</html>", "request_refused", Refused),
        (
            400,
            r#"{"error":{"message":"?","code":"context_length_exceeded"}}"#,
            "context_too_long",
            Refused,
        ),
        (400, r#"{"detail":[{"msg":"no"}]}"#, "request_refused", Refused),
        (429, r#"{"error":"slow down"}"#, "rate_limited", later),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"?"}}"#,
            "no_credit",
            Refused,
        ),
        (402, "", "no_credit", Refused),
        (503, "busy", "endpoint_failed", later),
        (529, "", "endpoint_failed", later),
        (408, "", "endpoint_failed", later),
        (302, "", "request_refused", Refused),
    ] {
        let error = error_of(status, body);
        assert_eq!(
            (error.error.code.as_str(), error.kind),
            (code, kind),
            "{status} {body}"
        );
    }
}

#[test]
fn truncates_long_messages() {
    let error = error_of(400, &"é".repeat(2000));
    assert!(
        error.error.message.ends_with(&("é".repeat(MAX_QUOTED) + "…")),
        "{error}"
    );
}

const MAX_QUOTED: usize = 300;

#[test]
fn retries_stream_errors_only_of_busy_servers() {
    let busy = Unavailable { after: None };
    for (error, kind) in [
        (serde_json::json!({"message": "The server is overloaded"}), busy),
        (serde_json::json!({"message": "?", "code": 503}), busy),
        (
            serde_json::json!({"message": "bad prompt with 503 words", "code": 400}),
            Refused,
        ),
        (serde_json::json!("out of memory"), Refused),
    ] {
        assert_eq!(error_in_stream(&facts(None), &error).kind, kind, "{error}");
    }
}
