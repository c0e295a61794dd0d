//! The pages: the HTML around the interface, which the server renders and the browser then hydrates.

use std::{collections::BTreeSet, sync::LazyLock};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, Uri, header, request::Parts},
    middleware,
    response::Response,
    routing::{any, get, post},
};
use leptos::{
    nonce::{Nonce, use_nonce},
    prelude::*,
};
use leptos_axum::{AxumRouteListing, LeptosRoutes, ResponseOptions};
use leptos_meta::MetaTags;
use leptos_router::{Method, SsrMode};
use tower_http::limit::RequestBodyLimitLayer;

use super::{
    accounts::{self, SIGN_IN_PATH},
    charts, event_stream, files, framed_page, notebook,
    nul::{replace_nul, without_nul},
    payloads, projects, rpc, shared_projects, texts,
};
use crate::{
    api,
    app::{AppState, access::Access},
    assets::{self, Manifest, dev_reload},
};
use parlor_base::{
    notices::Notice,
    settings::{AuthMode, FileSettings},
};
use parlor_protocol::sharing::shared_key;
use parlor_ui::{PagePerson, Root, ServerContent};

/// Applies the chosen theme and hides the sidebar before the first paint, so that no page flashes in the wrong look.
pub const THEME_SCRIPT: &str = "try{const t=localStorage.getItem('parlor-theme'),d=document.documentElement.dataset;\
                     if(t==='light'||t==='dark')d.theme=t;if(localStorage.getItem('parlor-sidebar'))d.sidebar='hidden'}catch{}";

/// Returns the routes of the pages, of their server functions and of their assets.
pub fn routes(app: &AppState) -> Router<AppState> {
    // The interface is one view for every URL. For axum, a wildcard does not match `/`.
    let page = |path: &str| AxumRouteListing::new(path.into(), SsrMode::Async, [Method::Get], []);
    let pages = vec![page("/"), page("/{*place}")];
    let context = provide_app(app);
    Router::new()
        .leptos_routes_with_context(app, pages, context, shell)
        // The page's own routes to data that the API also has. A proxy's password makes browsers send an
        // `Authorization` header, which the API rejects and these routes ignore.
        .route("/rpc/events", get(event_stream::stream_user_log))
        .route("/rpc/files/{file_id}", get(files::get))
        .route(
            "/rpc/shared-projects/{project_id}/files/{file_id}",
            get(shared_projects::file),
        )
        .route(
            "/rpc/conversations/{conversation_id}/notebook",
            get(notebook::get),
        )
        .route(
            "/rpc/conversations/{conversation_id}/payloads/{payload_id}/file",
            get(payloads::file),
        )
        .route("/rpc", any(|| async { StatusCode::NOT_FOUND }))
        .route("/rpc/", any(|| async { StatusCode::NOT_FOUND }))
        .route("/rpc/{*unknown}", any(|| async { StatusCode::NOT_FOUND }))
        // Server functions read their bodies themselves, without the other handlers' limit.
        .layer(RequestBodyLimitLayer::new(app.settings.limits.request_bytes))
        // An upload has a limit of its own.
        .route(rpc::UPLOAD_PATH, post(files::upload))
        .route("/rpc/projects/{project_id}/files", post(projects::add_file))
        .route(
            "/rpc/files/{file_id}/picture",
            get(charts::picture).post(charts::store_picture),
        )
        .layer(middleware::from_fn(rpc::check_and_format_errors))
        .layer(middleware::from_fn(replace_nul))
        .merge(assets::router())
}

/// Returns a function that provides the application to the views and the server functions.
fn provide_app(app: &AppState) -> impl Fn() + Clone + Send + Sync + use<> {
    let app = app.clone();
    move || {
        provide_context(app.clone());
        api::provide();
    }
}

/// Renders the page of a request around a content, which is HTML.
pub async fn render_around(app: &AppState, mut head: Parts, content: String) -> Response {
    // The page of a form's answer is rendered like any other.
    head.method = axum::http::Method::GET;
    let context = {
        let provide = provide_app(app);
        move || {
            provide();
            provide_context(ServerContent(content.clone()));
        }
    };
    let render = leptos_axum::render_app_async_with_context(context, shell);
    without_nul(render(Request::from_parts(head, Body::empty())).await)
}

/// Scrolls to the end of a conversation at once, as the hydrated page does.
const SCROLL_TO_END_SCRIPT: &str = "document.querySelector('.transcript')?.scrollTo(0,1e9)";

/// Loads the browser code and hydrates the page, or switches to the page without scripts. Without comments and indentation, which
/// every page would send.
static START_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let lines = include_str!("start.js").lines().map(str::trim_start);
    let lines: Vec<_> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect();
    lines.join("\n")
});

/// The scripts of the page without the browser code.
const PLAIN_SCRIPT: &str = include_str!("plain.js");

/// The query parameter for the page without the browser code. [`START_SCRIPT`] sets it when loading has
/// failed.
const PLAIN_PARAMETER: &str = "plain";

fn shell() -> impl IntoView {
    let nonce = use_nonce();
    let (app, parts) = (use_context::<AppState>(), use_context::<Parts>());
    if let (Some(response), Some(nonce)) = (use_context::<ResponseOptions>(), &nonce) {
        let host = parts
            .as_ref()
            .and_then(|parts| parts.headers.get(header::HOST)?.to_str().ok());
        // A proxy may send a host of its own instead of the browser's.
        let allowed = app.as_ref().map(|app| app.hosts.all()).unwrap_or_default();
        let allowed = allowed.iter().map(String::as_str);
        let policy = content_security_policy(nonce, host.into_iter().chain(allowed));
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        // A page contains one user's current data.
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    let long_answer = app.as_ref().map(|app| {
        let milliseconds = app.settings.timeouts.long_answer.as_nanos().div_ceil(1_000_000);
        milliseconds.to_string()
    });
    let file_limit = |limit: fn(&FileSettings) -> usize| {
        let limit = app.as_ref().map(|app| limit(&app.settings.files));
        limit.map(|limit| limit.to_string())
    };
    let (max_files, max_file_bytes) = (
        file_limit(|files| files.max_count),
        file_limit(|files| files.max_bytes),
    );
    let (has_share_links, has_people) = app.as_ref().map_or((false, false), |app| {
        let has_people = app.accounts.mode() != AuthMode::None;
        (app.settings.sharing.links, has_people)
    });
    let person = app.as_ref().zip(parts.as_ref());
    provide_context(PagePerson(
        person.and_then(|(app, parts)| accounts::person(app, parts)),
    ));
    let user = parts
        .as_ref()
        .and_then(|parts| parts.extensions.get::<Access>().cloned());
    let uri = parts.map(|parts| parts.uri).unwrap_or_default();
    let is_plain = is_plain_requested(&uri);
    // Placed after the interface, since hydration starts at the first element of the body. The style sheet
    // shows them first.
    // They are for those who use Parlor, not for visitors or for the readers of a share.
    let is_shared = shared_key(uri.path()).is_some();
    let found = app
        .filter(|app| !is_shared && (user.is_some() || app.accounts.mode() == AuthMode::None))
        .map_or(Vec::new(), |app| app.notices.all());
    let found = (!found.is_empty()).then(|| {
        let notice = |Notice { title, text }| view! { <details open><summary>{title}</summary><p>{text}</p></details> };
        view! { <aside class="notices" aria-label=texts::NOTICES>{found.into_iter().map(notice).collect_view()}</aside> }
    });
    let user = user.map(|access| access.user_id.to_string());
    let signed_out = user.is_some().then(signed_out_notice);
    let Manifest {
        js,
        wasm,
        css,
        math_font,
        text_font,
        ..
    } = Manifest::current();
    // With the browser code, the first formula loads it.
    let math_style = math_font.clone().map(|url| {
        let link = view! { <link rel="stylesheet" href=url/> };
        if is_plain {
            link.into_any()
        } else {
            view! { <noscript>{link}</noscript> }.into_any()
        }
    });
    // Loaded with the style sheet instead of after it.
    let text_font = text_font.map(|url| {
        view! { <link rel="preload" href=url r#as="font" r#type="font/woff2" crossorigin=""/> }
    });
    // A conversation is not hydrated without these modules, so they must not load after everything else.
    let folder = wasm
        .rsplit_once('/')
        .filter(|_| uri.path().starts_with("/c/") || is_shared)
        .map(|(folder, _)| folder);
    let modules = folder.map(|folder| {
        let files = ["split_conversation.wasm", "conversation_chunks.bin"];
        let preload = |file: &str| {
            let url = [folder, "/", file].concat();
            view! { <link rel="preload" href=url r#as="fetch" crossorigin=""/> }
        };
        files.map(preload).to_vec()
    });
    let start = format!("const js = {js:?}, wasm = {wasm:?};\n{}", *START_SCRIPT);
    let preloaded = (!is_plain).then(|| {
        view! {
            <link rel="modulepreload" href=js/>
            <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin=""/>
            {modules}
        }
    });
    let script = if is_plain { PLAIN_SCRIPT.to_owned() } else { start };
    view! {
        <!DOCTYPE html>
        <html
            lang="en"
            data-long-answer-ms=long_answer
            data-max-files=max_files
            data-max-file-bytes=max_file_bytes
            data-share-links=has_share_links.then_some("")
            data-share-people=has_people.then_some("")
            data-math-font=math_font.filter(|_| !is_plain)
            data-user=user
            data-state=is_plain.then_some("plain")
        >
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content"/>
                <meta name="color-scheme" content="light dark"/>
                <script nonce=nonce.clone()>{THEME_SCRIPT}</script>
                <link rel="stylesheet" href=css/>
                {text_font}
                {math_style}
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                {preloaded}
                <script type="module" nonce=nonce.clone()>{script}</script>
                {dev_reload::script().map(|url| view! { <script type="module" src=url></script> })}
                <MetaTags/>
            </head>
            <body>
                <Root/>
                {start_failure_notices(interactive_url(&uri))}
                {signed_out}
                {found}
                <script nonce=nonce>{SCROLL_TO_END_SCRIPT}</script>
            </body>
        </html>
    }
}

/// Returns the notices for browser code that has not started or has stopped. The style sheet shows them
/// then. Their links have a target, so that handlers of the stopped code do not intercept them.
fn start_failure_notices(again: String) -> impl IntoView {
    let separator = if again.contains('?') { "&" } else { "?" };
    let plain = [again.as_str(), separator, PLAIN_PARAMETER, "="].concat();
    view! {
        <div class="start-notice start-failed" role="alert">
            <p>
                {texts::START_FAILED}
            </p>
            <a class="button" target="_self" href=again.clone()>{texts::TRY_AGAIN}</a>
        </div>
        <div class="start-notice start-stopped" role="alert">
            <p>
                {texts::PAGE_STOPPED}
            </p>
            <a class="button" target="_self" href=again>{texts::RELOAD}</a>
            <a class="button" target="_self" href=plain>{texts::OPEN_PLAIN_PAGE}</a>
        </div>
    }
}

/// Returns the notice for a page whose session has ended. The browser code shows it then.
fn signed_out_notice() -> impl IntoView {
    view! {
        <div class="start-notice signed-out" role="alert">
            <p>{texts::SIGNED_OUT}</p>
            // The page for signing in redirects to the page that it was opened from.
            <a class="button button-primary" target="_self" href=SIGN_IN_PATH>{texts::SIGN_IN}</a>
        </div>
    }
}

fn is_plain_parameter(parameter: &str) -> bool {
    parameter.split('=').next() == Some(PLAIN_PARAMETER)
}

fn is_plain_requested(uri: &Uri) -> bool {
    uri.query()
        .is_some_and(|query| query.split('&').any(is_plain_parameter))
}

/// Returns the URL of the page with the browser code.
fn interactive_url(uri: &Uri) -> String {
    // Two slashes would start the name of another host.
    let path = uri.path().trim_start_matches(['/', '\\']);
    let query = uri.query().unwrap_or_default().split('&');
    let rest: Vec<_> = query
        .filter(|parameter| !parameter.is_empty() && !is_plain_parameter(parameter))
        .collect();
    let separator = if rest.is_empty() { "" } else { "?" };
    ["/", path, separator, &rest.join("&")].concat()
}

/// Returns the policy: scripts are our own or carry this page's nonce, nothing is loaded from other origins, and frames
/// have one URL only, on the hosts under which browsers reach Parlor.
fn content_security_policy<'a>(nonce: &Nonce, hosts: impl Iterator<Item = &'a str>) -> HeaderValue {
    // Policies have no IPv6 addresses.
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    let hosts: BTreeSet<_> = hosts
        .filter(|host| !host.is_empty() && host.chars().all(is_host))
        .collect();
    let frames = if hosts.is_empty() {
        "'self'".to_owned()
    } else {
        let frames: Vec<_> = hosts
            .iter()
            .map(|host| [host, framed_page::PATH].concat())
            .collect();
        frames.join(" ")
    };
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         connect-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; frame-src {frames}; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_page_links_to_the_interactive_one() {
        for (url, plain, again) in [
            ("/c/1?plain=", true, "/c/1"),
            ("/c/1?before=2&plain=&q=%3C", true, "/c/1?before=2&q=%3C"),
            ("/?plain", true, "/"),
            ("//evil.example/?plain", true, "/evil.example/"),
            ("/c/1?before=plain", false, "/c/1?before=plain"),
            ("/plain", false, "/plain"),
        ] {
            let uri = url.parse().unwrap();
            assert_eq!(is_plain_requested(&uri), plain, "{url}");
            assert_eq!(interactive_url(&uri), again, "{url}");
        }
    }

    #[test]
    fn frames_have_one_url_on_each_host() {
        let frames = |hosts: &[&str]| {
            let policy = content_security_policy(&Nonce::new(), hosts.iter().copied());
            let policy = policy.to_str().unwrap().to_owned();
            let (_, rest) = policy.split_once("frame-src ").unwrap();
            rest.split(';').next().unwrap().to_owned()
        };
        assert_eq!(frames(&["127.0.0.1:7387"]), "127.0.0.1:7387/frame");
        // Behind a proxy with a `Host` of its own, browsers use an allowed host.
        assert_eq!(
            frames(&["parlor-backend:7387", "parlor.example", "[::1]:7387", "a b"]),
            "parlor-backend:7387/frame parlor.example/frame"
        );
        assert_eq!(frames(&["[::1]:7387"]), "'self'");
    }
}
