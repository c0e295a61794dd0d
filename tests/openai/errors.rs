//! The error texts for a server that rejects requests or is unreachable, which must not contain secrets.

use super::*;

#[tokio::test]
async fn errors_name_endpoint_cause_and_advice() {
    let upstream = Upstream::start().await;
    let acme = format!("The endpoint “acme” ({})", upstream.url());
    let later = |seconds| Unavailable {
        after: Some(Duration::from_secs(seconds)),
    };
    let key_hint = "Set ACME_API_KEY to a valid key and restart Parlor.";
    let picker_hint = "Choose another model in the picker at the composer.";
    let log_hint = "Try again. If the error persists, check that server's log.";
    for (script, code, kind, what, hint) in [
        (
            Script::new().status(401, json!({"error": {"message": "Who?"}}), &[]),
            "key_missing",
            Refused,
            "wants an API key, and none is set (401): Who?",
            key_hint,
        ),
        (
            Script::new().status(
                404,
                json!({"error": {"message": "?", "code": "model_not_found"}}),
                &[],
            ),
            "model_unknown",
            Refused,
            "does not know the model “m/1”: ?",
            picker_hint,
        ),
        (
            Script::new().status(
                429,
                json!({"error": {"message": "Slow"}}),
                &[("retry-after", "7")],
            ),
            "rate_limited",
            later(7),
            "takes no more requests for now (429): Slow. It asks to wait 7 s.",
            "Wait a little, then retry.",
        ),
        (
            Script::new().status(500, "boom", &[]),
            "endpoint_failed",
            Unavailable { after: None },
            "failed (500 Internal Server Error): boom.",
            log_hint,
        ),
        (
            Script::new().status(503, "<html>busy</html>", &[("retry-after", "2")]),
            "endpoint_failed",
            later(2),
            "failed (503 Service Unavailable).",
            log_hint,
        ),
        (
            Script::new().status(400, json!({"error": "No \u{1b}[1mway\n"}), &[]),
            "request_refused",
            Refused,
            "refused the request (400 Bad Request): No [1mway.",
            "",
        ),
        (
            Script::new().status(301, "", &[("location", "https://elsewhere.example/v1?k=1")]),
            "request_refused",
            Refused,
            "redirects to https://elsewhere.example/v1, which Parlor does not follow.",
            "Check ACME_BASE_URL; it usually ends with /v1.",
        ),
        (
            Script::new()
                .content_type("application/json")
                .raw("{\"error\": {\"message\": \"No.\"}}")
                .end(),
            "stream_error",
            Refused,
            "reported an error in its answer: No.",
            "",
        ),
        (
            Script::new()
                .content_type("text/html; charset=utf-8")
                .raw("<html>")
                .end(),
            "bad_answer",
            Refused,
            "answered with text/html instead of a stream of events.",
            "Is ACME_BASE_URL the address of an OpenAI-compatible API? It usually ends with /v1.",
        ),
        (
            Script::new().content_type("text/plain").raw("Hello\n\n").end(),
            "bad_answer",
            Refused,
            "gave an answer that is not a stream of events.",
            "Is ACME_BASE_URL the address of an OpenAI-compatible API? It usually ends with /v1.",
        ),
    ] {
        upstream.reset();
        upstream.add_script(When::any(), script);
        let (events, error) = collect_response(&config(&upstream), request("m/1", "Hello")).await;
        assert_eq!(events, []);
        let expected = (code.into(), kind, format!("{acme} {what}"), hint.to_owned());
        assert_eq!(error_parts(error), expected);
    }
}

#[tokio::test]
async fn errors_never_show_the_key() {
    let upstream = Upstream::start().await;
    let refusal = json!({"error": {"message": "sk-wrong is not a key"}});
    upstream.add_script(When::any(), Script::new().status(401, refusal, &[]));
    let config = EndpointConfig {
        api_key: Some("sk-wrong".into()),
        ..config(&upstream)
    };
    let (code, _, message, _) = error_parts(collect_response(&config, request("echo", "Hi")).await.1);
    assert_eq!(code, "key_refused");
    let acme = format!("The endpoint “acme” ({})", upstream.url());
    assert_eq!(
        message,
        format!("{acme} refused the API key (401): ••• is not a key.")
    );
}

#[tokio::test]
async fn redacts_secrets_and_sends_url_credentials() {
    let upstream = Upstream::start().await;
    let config = EndpointConfig {
        base_url: upstream.url().replace("//", "//someone:hidden@"),
        headers: vec![("x-key".into(), "secret-1".into())],
        ..config(&upstream)
    };
    assert_eq!(collect_response(&config, request("echo", "Hi")).await.1, None);
    let sent = upstream.requests().pop().unwrap();
    assert!(sent.headers["authorization"].starts_with("Basic "), "{sent:?}");
    let with_key = EndpointConfig {
        api_key: Some("sk-2".into()),
        ..config
    };
    let printed = format!("{with_key:?} {:?}", OpenAi::new(&with_key).unwrap());
    assert!(printed.contains("http://127.0.0.1:"), "{printed}");
    for secret in ["hidden", "secret-1", "sk-2"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[tokio::test]
async fn unreachable_endpoint_states_the_cause() {
    let dead = Upstream::start().await;
    let url = dead.url();
    dead.stop().await;
    let upstream = Upstream::start().await;
    for (base_url, cause) in [
        (url.clone(), "nothing answers there (connection refused)"),
        (upstream.url().replace("http:", "https:"), "it does not speak TLS"),
        ("http://no-such-host.invalid/v1".into(), "cannot be reached: "),
    ] {
        let config = EndpointConfig {
            base_url: base_url.clone(),
            ..config(&upstream)
        };
        for error in [
            collect_response(&config, request("echo", "Hi")).await.1.unwrap(),
            OpenAi::new(&config).unwrap().models().await.unwrap_err(),
        ] {
            assert_eq!(error.error.code, "endpoint_unreachable", "{error}");
            assert_eq!(error.kind, Unavailable { after: None });
            assert!(
                error.error.message.contains(&base_url) && error.error.message.contains(cause),
                "{error}"
            );
            assert_eq!(
                error.error.hint,
                "Is it running? Its address is set in ACME_BASE_URL."
            );
        }
    }
}
