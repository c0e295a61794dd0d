//! `/design`: every component in every state, for those who change the style sheet. Development builds only.

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::document::Document;
use crate::app::AppState;
use parlor_pages::payloads::{PayloadViews, to_preview};
use parlor_protocol::{Payload, RawJson};
use parlor_ui::design::{self, ExamplePayload};

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
    let views = PayloadViews::built_in();
    let example = |payload: &Payload| ExamplePayload {
        reference: views.to_ref(payload),
        view: views.view(payload),
        preview: to_preview(views.view(payload)),
    };
    let content = design::render(examples().iter().map(example).collect());
    let document = Document {
        status: StatusCode::OK,
        title: "Design",
        classes: ("", "design"),
        style: Some(STYLESHEET_PATH),
        has_brand: false,
        content: view! { <div inner_html=content></div> },
    };
    document.respond()
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
            "table",
            "Measurements, one page of many",
            json!({
                "title": "Measurements", "columns": ["Port", "Height in m"],
                "rows": (1..=100).map(|n| json!([format!("Port {n}"), f64::from(n) / 4.0])).collect::<Vec<_>>(),
                "stored": { "rows": 12_000 },
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
            "stream_suggestions",
            "A proposal with several fields",
            json!({
                "name": "Tides of the moon", "query": "tides[ti] AND moon[ti]", "explanation": "It leaves out the sun.",
                "base": { "name": "Tides", "query": "tides[ti]" },
            }),
        ),
        (
            "schema_proposal",
            "A proposal for a list",
            json!({
                "fields": [{ "name": "range", "question": "How high is the tide?", "type": "number" }], "remove": ["country"],
                "base": { "range": "", "country": "Where was it measured? (text)" },
            }),
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
