//! The page with the check of the machine and the settings, for whoever operates Parlor.

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use leptos::prelude::*;

use super::{
    named_host,
    page::{self, failure},
    texts,
};
use crate::{
    app::{
        Caller,
        doctor::{Examined, Finding, Listening, PageRequest, Status, examine},
    },
    http::{client::Client, origin::is_loopback},
};
use parlor_protocol::{ApiError, ErrorCode};
use parlor_ui::with_code;

/// `GET /settings/system`
pub async fn show(caller: Caller, request: Request) -> Response {
    match caller.is_administrator().await {
        Ok(true) => {}
        Ok(false) => {
            let error = ApiError::new(ErrorCode::Forbidden, texts::SYSTEM_IS_FOR_OPERATORS);
            return failure(texts::SYSTEM_TITLE, &error);
        }
        Err(error) => return failure(texts::SYSTEM_TITLE, &error),
    }
    let app = &caller.app;
    let examined = Examined {
        settings: &app.settings,
        listening: Listening::Here(app.settings.server.addr),
        stored_hosts: app.hosts.stored(),
        request: Some(page_request(&request)),
    };
    let findings = examine(examined, app.services.now(app.models.clone())).await;
    page::respond(StatusCode::OK, texts::SYSTEM_TITLE, content(findings))
}

fn page_request(request: &Request) -> PageRequest {
    let client = request.extensions().get::<Client>();
    let host = named_host(request.method(), request.uri(), request.headers());
    PageRequest {
        is_loopback: host.as_ref().is_none_or(is_loopback),
        host: host.map(|host| host.to_string()).unwrap_or_default(),
        is_tls: client.is_some_and(|client| client.is_tls),
        is_proxied: client.is_some_and(|client| client.is_proxied),
        has_proxy_header: has_proxy_header(request.headers()),
    }
}

fn has_proxy_header(headers: &HeaderMap) -> bool {
    ["x-forwarded-for", "x-forwarded-proto"]
        .iter()
        .any(|name| headers.contains_key(*name))
        || headers.contains_key(header::FORWARDED)
}

fn content(findings: Vec<Finding>) -> impl IntoView {
    let count = |status: Status| findings.iter().filter(|finding| finding.status == status).count();
    let sum = texts::checks_with_problems(count(Status::Fails), count(Status::Warning));
    let rows: Vec<_> = findings.into_iter().map(row).collect();
    view! {
        <p class="account-note">{texts::SYSTEM_ABOUT}</p>
        <p role="status">{sum}</p>
        <dl class="system-checks">{rows}</dl>
    }
}

fn row(finding: Finding) -> impl IntoView {
    let Finding {
        subject,
        status,
        text,
        mend,
    } = finding;
    let mend = (!mend.is_empty()).then(|| view! { <p class="system-mend">{with_code(&mend)}</p> });
    view! {
        <div class="system-check" data-status=status.word()>
            <dt>{subject}</dt>
            <dd>
                <span class="system-status">{status.word()}</span>
                <p>{with_code(&text)}</p>
                {mend}
            </dd>
        </div>
    }
}
