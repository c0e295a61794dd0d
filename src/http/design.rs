//! `/design`: every component in every state, for those who change the style sheet. Development builds only.

use axum::{
    Router,
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use leptos::prelude::*;
use serde_json::{Value, json};

use crate::{
    app::AppState,
    assets::Manifest,
    payloads,
    protocol::{Payload, RawJson},
    ui::design,
};

const STYLESHEET_PATH: &str = "/design/tokens.css";

/// Returns the routes of the page and its style sheet.
pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/design", get(show))
        .route(STYLESHEET_PATH, get(stylesheet))
}

async fn stylesheet() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, design::stylesheet()).into_response()
}

async fn show() -> Response {
    let views = examples().iter().map(payloads::view).collect();
    let content = design::render(views);
    let page = view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <title>"Design · Parlor"</title>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <link rel="stylesheet" href=Manifest::current().css/>
                <link rel="stylesheet" href=STYLESHEET_PATH/>
            </head>
            <body>
                <main class="design">
                    <h1>"Design"</h1>
                    <div inner_html=content></div>
                </main>
            </body>
        </html>
    };
    let policy =
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";
    let mut response = Html(page.to_html()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// A payload of each type, and data of an unknown one.
fn examples() -> Vec<Payload> {
    let article = json!({
        "pmid": "11", "title": "Tides of the North Sea", "authors": ["Ann Bohr", "Bo Chen"], "journal": "Oceans",
        "publication_date": "2024-05-01", "abstract": "The moon pulls the sea.", "doi": "10.1000/1",
    });
    let values = |name: &str, values: [f64; 4]| json!({ "name": name, "values": values });
    let examples = [
        (
            "chart",
            "High water, as lines",
            json!({
                "title": "High water", "kind": "line", "x": ["Mon", "Tue", "Wed", "Thu"],
                "series": [values("Morning", [3.4, 3.6, 3.9, 4.1]), values("Evening", [3.2, 3.5, 3.7, 3.8])],
            }),
        ),
        (
            "chart",
            "Visitors, as bars",
            json!({
                "title": "Visitors", "kind": "bar", "x": ["May", "June", "July", "August"],
                "series": [values("Sylt", [12e3, 30.5e3, 41e3, 39e3]), values("Föhr", [8e3, 14e3, 21e3, 20.5e3])],
            }),
        ),
        (
            "table",
            "Ports",
            json!({
                "title": "Ports", "columns": ["Port", "Range in m"],
                "rows": (1..=7).map(|n| json!([format!("Port {n}"), n])).collect::<Vec<_>>(),
            }),
        ),
        (
            "text_document",
            "A letter, with a new version",
            json!({ "of": "1", "title": "Letter", "versions": [
                { "text": "Dear Ann,\n\nthank you for the map.\n\nYours, Bob" },
                { "text": "Dear Ann,\n\nthank you so much for the map.\n\nYours, Bob" },
            ] }),
        ),
        ("pubmed_article", "An article", article.clone()),
        (
            "pubmed_search_results",
            "Articles",
            json!({ "query": "tides", "total": 1204, "articles": [article] }),
        ),
        (
            "web_search_results",
            "Pages",
            json!({ "query": "tides", "results": [
                { "title": "Tides", "url": "https://example.com/tides", "snippet": "How the moon pulls the sea." },
            ] }),
        ),
        (
            "query_suggestion",
            "A query",
            json!({ "query": "tides[ti] AND 2024[dp]" }),
        ),
        (
            "unknown",
            "Data of another type",
            json!({ "a": 1, "b": [true, null, "text"], "c": {} }),
        ),
    ];
    let payload = |(kind, summary, data): (&str, &str, Value)| Payload {
        payload_id: kind.into(),
        kind: kind.into(),
        summary: summary.into(),
        data: RawJson::parse_or_quote(&data.to_string()),
    };
    examples.map(payload).into()
}
