//! The test of a model server that somebody is about to add: its list of models, or the reason why there is none, in words for
//! people who don't know what a status or a certificate is. The technical cause stands apart.

use std::time::Duration;

use reqwest::Url;
use rustls::CertificateError;

use super::{
    EndpointConfig,
    adapter::Adapter,
    anthropic::Anthropic,
    gemini::Gemini,
    model_list::offered_models,
    openai::ChatCompletions,
    openai_responses::OpenAiResponses,
    transport::{Api, ConnectionFailure, PageError},
};
use parlor_base::settings::EndpointKind;
use parlor_model::ModelError;
use parlor_protocol::{EndpointProblem, EndpointProblemCode as Code, EndpointTestResult, FoundModel};
use parlor_web::http_client::causes::innermost_cause;

/// The time limit of a test. A person waits for it.
const TEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of models that are returned.
const MAX_FOUND_MODELS: usize = 2000;

/// Usual ports of model servers, with the programs that have them.
const USUAL_PORTS: [(u16, &str); 4] = [
    (11434, "Ollama"),
    (1234, "LM Studio"),
    (8080, "llama.cpp"),
    (8000, "vLLM"),
];

/// Tests a model server. Nothing is stored, and redirects are not followed.
pub async fn test_endpoint(config: &EndpointConfig) -> EndpointTestResult {
    let test = async {
        match config.kind {
            EndpointKind::OpenAi => test_with::<ChatCompletions>(config).await,
            EndpointKind::OpenAiResponses => test_with::<OpenAiResponses>(config).await,
            EndpointKind::Anthropic => test_with::<Anthropic>(config).await,
            EndpointKind::Gemini => test_with::<Gemini>(config).await,
        }
    };
    let tested = tokio::time::timeout(TEST_TIMEOUT, test).await;
    let tested = tested.unwrap_or_else(|_| Err(too_slow(String::new())));
    match tested {
        Ok(models) if models.is_empty() => EndpointTestResult {
            models,
            problem: Some(finding(
                Code::NoModels,
                "The address answers and lists no models. Load one there, then test again.",
                String::new(),
            )),
        },
        Ok(models) => EndpointTestResult {
            models,
            problem: None,
        },
        Err(problem) => EndpointTestResult {
            models: Vec::new(),
            problem: Some(problem),
        },
    }
}

async fn test_with<A: Adapter>(config: &EndpointConfig) -> Result<Vec<FoundModel>, EndpointProblem> {
    let api = A::api(config)
        .map_err(|error| finding(Code::Other, "This address can't be used.", error.error.message))?;
    let api = &api;
    let pages = api.list_pages(&A::LIST, |query| async move {
        let page = api.get_page(&A::LIST, &query).await;
        page.map_err(|error| match error {
            PageError::Unreachable(error) => unreachable(api, &error),
            PageError::Refused(error) => refused(config.kind, &error),
        })
    });
    let listed = (A::LIST.read)(pages.await?);
    let listed = listed.ok_or_else(|| other_server(config.kind, "It sent no list of models.".into()))?;
    let is_offered = offered_models(&listed);
    let found = listed.into_iter().take(MAX_FOUND_MODELS).map(|model| FoundModel {
        can_chat: is_offered(&model.id),
        name: model.id,
    });
    Ok(found.collect())
}

fn finding(code: Code, message: impl Into<String>, details: String) -> EndpointProblem {
    EndpointProblem {
        code,
        message: message.into(),
        details,
    }
}

fn too_slow(details: String) -> EndpointProblem {
    finding(
        Code::TooSlow,
        "The address did not answer in time. Is it right, and is the server running?",
        details,
    )
}

fn other_server(kind: EndpointKind, details: String) -> EndpointProblem {
    let message = match kind {
        EndpointKind::OpenAi => {
            "This address answers, but not as an OpenAI-compatible server. The address usually ends with /v1."
        }
        EndpointKind::OpenAiResponses => {
            "This address answers, but not as a server with OpenAI's Responses. The address usually ends with /v1."
        }
        EndpointKind::Anthropic => {
            "This address answers, but not as Anthropic does. The address is what stands before /v1/messages."
        }
        EndpointKind::Gemini => {
            "This address answers, but not as Google's Gemini does. The address usually ends with /v1beta."
        }
    };
    finding(Code::OtherServer, message, details)
}

/// Returns the finding of a server that answers with an error.
fn refused(kind: EndpointKind, error: &ModelError) -> EndpointProblem {
    let details = error.error.message.clone();
    let status = error.reply.as_ref().map(|reply| reply.status);
    match (error.error.code.as_str(), status) {
        // A valid key can lack the right to list models.
        ("key_refused", Some(403)) => finding(
            Code::ListRefused,
            "The address answers, but does not list its models with this key. If the key is right, name the models yourself.",
            details,
        ),
        ("key_refused", _) => finding(
            Code::InvalidKey,
            "The key is not valid for this address.",
            details,
        ),
        ("key_missing", _) => finding(
            Code::KeyNeeded,
            "This address needs a key. Paste it, then test again.",
            details,
        ),
        ("no_credit", _) => finding(
            Code::NoCredit,
            "There is no credit left at this service.",
            details,
        ),
        ("rate_limited", _) => finding(
            Code::Busy,
            "The service takes no more requests for now. Wait a little, then test again.",
            details,
        ),
        (_, Some(300..=399)) => finding(
            Code::OtherServer,
            "This address redirects to another one. Parlor does not follow, so that no key goes astray: enter the other address.",
            details,
        ),
        ("bad_answer", _) | (_, Some(404 | 405)) => other_server(kind, details),
        ("broke_off", _) => finding(
            Code::Other,
            "The server broke off its answer. Test again.",
            details,
        ),
        (_, Some(500..)) => finding(
            Code::Other,
            "The address answers, but the service fails at present. Test again later.",
            details,
        ),
        _ => finding(Code::Other, "The service refused the request.", details),
    }
}

/// Returns the finding of a connection that failed.
fn unreachable(api: &Api, error: &reqwest::Error) -> EndpointProblem {
    let details = api.endpoint().quote(&innermost_cause(error));
    match ConnectionFailure::new(error) {
        ConnectionFailure::Tls(error) => tls_finding(error, details),
        ConnectionFailure::Refused => finding(
            Code::NothingAnswers,
            nothing_answers(&api.endpoint().url),
            details,
        ),
        ConnectionFailure::TimedOut => too_slow(details),
        ConnectionFailure::UnknownHost(_) => finding(
            Code::UnknownHost,
            "There is no host with this name. Check the address for a typing error.",
            details,
        ),
        ConnectionFailure::Reset | ConnectionFailure::Other => finding(
            Code::Other,
            "The connection failed. Check the address, and whether the server is running.",
            details,
        ),
    }
}

fn nothing_answers(url: &str) -> String {
    let port = Url::parse(url).ok().and_then(|url| url.port_or_known_default());
    let program = USUAL_PORTS.iter().find(|(usual, _)| port == Some(*usual));
    match program {
        Some((_, name)) => format!("Nothing answers at this port. Is {name} running?"),
        None => "Nothing answers at this port. Is the server running?".into(),
    }
}

fn tls_finding(error: &rustls::Error, details: String) -> EndpointProblem {
    let (reason, advice) = match error {
        rustls::Error::InvalidCertificate(cause) => match cause {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                ("it has expired", "Whoever runs the server has to renew it.")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                ("it is not valid yet", "Check the clock of Parlor's machine.")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                "it belongs to another host",
                "Use the name for which it was issued.",
            ),
            CertificateError::UnknownIssuer => (
                "this machine does not know who issued it",
                "If you trust the issuer, install its certificate on Parlor's machine and start Parlor again.",
            ),
            CertificateError::Revoked => (
                "it was revoked",
                "Do not use this server before it has another one.",
            ),
            _ => ("it is invalid", "Whoever runs the server has to replace it."),
        },
        rustls::Error::InvalidMessage(_) => {
            let message = "This address does not encrypt. Should it begin with http:// instead of https://?";
            return finding(Code::OtherServer, message, details);
        }
        _ => {
            let message = "The encrypted connection could not be set up.";
            return finding(Code::Other, message, details);
        }
    };
    finding(
        Code::UntrustedCertificate,
        format!("The certificate of this address is not trusted: {reason}. {advice}"),
        details,
    )
}
