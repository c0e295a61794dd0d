//! The documented errors of each provider.

use super::*;

#[tokio::test]
async fn understands_documented_errors() {
    let anthropic =
        |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message } });
    let google = |code: u16, status: &str, message: &str| json!({ "error": { "code": code, "message": message, "status": status } });
    let openai = |code: &str, message: &str| json!({ "error": { "message": message, "code": code } });
    for (kind, status, body, code, consequence) in [
        (
            Anthropic,
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            "key_refused",
            Refused,
        ),
        (
            Anthropic,
            403,
            anthropic("permission_error", "no"),
            "key_refused",
            Refused,
        ),
        (
            Anthropic,
            404,
            anthropic("not_found_error", "model: claude-none"),
            "model_unknown",
            Refused,
        ),
        (
            Anthropic,
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            "context_too_long",
            Refused,
        ),
        (
            Anthropic,
            400,
            anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
            ),
            "no_credit",
            Refused,
        ),
        (
            Anthropic,
            413,
            anthropic("request_too_large", "Request exceeds the maximum size"),
            "request_refused",
            Refused,
        ),
        (
            Anthropic,
            429,
            anthropic("rate_limit_error", "slow down"),
            "rate_limited",
            LATER,
        ),
        (
            Anthropic,
            500,
            anthropic("api_error", "Internal server error"),
            "endpoint_failed",
            LATER,
        ),
        (
            Anthropic,
            529,
            anthropic("overloaded_error", "Overloaded"),
            "endpoint_failed",
            LATER,
        ),
        (
            Gemini,
            400,
            google(
                400,
                "INVALID_ARGUMENT",
                "API key not valid. Please pass a valid API key.",
            ),
            "key_refused",
            Refused,
        ),
        (
            Gemini,
            403,
            google(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers",
            ),
            "key_refused",
            Refused,
        ),
        (
            Gemini,
            404,
            google(404, "NOT_FOUND", "models/x is not found for API version v1beta"),
            "model_unknown",
            Refused,
        ),
        (
            Gemini,
            400,
            google(
                400,
                "INVALID_ARGUMENT",
                "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            "context_too_long",
            Refused,
        ),
        (
            Gemini,
            429,
            google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"),
            "rate_limited",
            LATER,
        ),
        (
            Gemini,
            500,
            google(500, "INTERNAL", "An internal error has occurred"),
            "endpoint_failed",
            LATER,
        ),
        (
            Gemini,
            503,
            google(503, "UNAVAILABLE", "The model is overloaded."),
            "endpoint_failed",
            LATER,
        ),
        (
            OpenAiResponses,
            401,
            openai("invalid_api_key", "Incorrect API key provided"),
            "key_refused",
            Refused,
        ),
        (
            OpenAiResponses,
            404,
            openai("model_not_found", "The model `x` does not exist"),
            "model_unknown",
            Refused,
        ),
        (
            OpenAiResponses,
            400,
            openai("context_length_exceeded", "Your input exceeds the context window"),
            "context_too_long",
            Refused,
        ),
        (
            OpenAiResponses,
            429,
            openai("insufficient_quota", "You exceeded your current quota"),
            "no_credit",
            Refused,
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().status(status, body.clone(), &[]));
        let request = ModelRequest::new("any", vec![ModelMessage::User("Hi".into())]);
        let error = answer(&*endpoint(kind, &upstream), &request).await.unwrap_err();
        assert_eq!(
            (error.error.code.as_str(), error.kind),
            (code, consequence),
            "{kind:?} {body}: {error}"
        );
        assert_eq!(calls(&upstream).len(), 1, "{kind:?} {body}");
    }
}

#[tokio::test]
async fn reports_errors_inside_a_success() {
    for (kind, error, consequence) in [
        (
            Anthropic,
            json!({ "type": "overloaded_error", "message": "Overloaded" }),
            LATER,
        ),
        (
            Anthropic,
            json!({ "type": "invalid_request_error", "message": "no" }),
            Refused,
        ),
        (
            Gemini,
            json!({ "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" }),
            LATER,
        ),
        (
            Gemini,
            json!({ "code": 400, "message": "no", "status": "INVALID_ARGUMENT" }),
            Refused,
        ),
        (
            OpenAiResponses,
            json!({ "code": "rate_limit_exceeded", "message": "slow down" }),
            LATER,
        ),
        (
            OpenAiResponses,
            json!({ "code": "insufficient_quota", "message": "no" }),
            Refused,
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().error_object(error.clone()));
        let request = ModelRequest::new("any", vec![ModelMessage::User("Hi".into())]);
        let failure = answer(&*endpoint(kind, &upstream), &request).await.unwrap_err();
        assert_eq!(
            (failure.error.code.as_str(), failure.kind),
            ("stream_error", consequence),
            "{kind:?} {error}"
        );
    }
}

#[tokio::test]
async fn a_foreign_protocol_names_the_kind_to_set() {
    for (kind, other) in [
        (Anthropic, Gemini),
        (Gemini, OpenAiResponses),
        (OpenAiResponses, Anthropic),
    ] {
        let upstream = Upstream::start().await;
        let event = match other {
            Gemini => json!({ "candidates": [{ "content": { "parts": [] } }] }),
            Anthropic => json!({ "type": "message_start", "message": {} }),
            _ => json!({ "type": "response.created", "response": {} }),
        };
        upstream.add_script(
            When::any(),
            Script::new().raw(format!("data: {event}\n\n")).hang(),
        );
        let request = ModelRequest::new("any", vec![ModelMessage::User("Hi".into())]);
        let error = answer(&*endpoint(kind, &upstream), &request).await.unwrap_err();
        assert_eq!(
            (error.error.code.as_str(), error.kind),
            ("other_protocol", Refused),
            "{error}"
        );
        let setting = format!("kind = \"{}\"", other.as_str());
        assert!(error.error.hint.contains(&setting), "{}", error.error.hint);
    }
}

#[tokio::test]
async fn a_wrong_url_names_its_usual_form() {
    for (kind, form) in [
        (OpenAiResponses, "it usually ends with /v1."),
        (Anthropic, "it is what stands before /v1/messages."),
        (Gemini, "it usually ends with /v1beta."),
    ] {
        let upstream = Upstream::start().await;
        let config = EndpointConfig {
            base_url: upstream.url_of("/nowhere"),
            ..config(kind, &upstream)
        };
        let request = ModelRequest::new("any", vec![ModelMessage::User("Hi".into())]);
        let error = answer(&*create_endpoint(&config).unwrap(), &request)
            .await
            .unwrap_err();
        assert_eq!(
            error.error.hint,
            format!("Check ACME_BASE_URL; {form}"),
            "{kind:?}"
        );
    }
}
