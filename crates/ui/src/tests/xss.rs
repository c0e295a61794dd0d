//! Cross-site scripting strings from public collections (tests/fixtures/xss), tested in every text of the pages.

use std::{
    collections::BTreeSet,
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread::{self, available_parallelism},
};

use leptos::prelude::*;
use serde_json::{Value, json};
use xss::{
    HARMLESS_MARKDOWN, assert_harmless, assert_harmless_in, assert_no_code, batches, collections, parse_html,
    parsed_text,
};

use super::{
    pages::{self, Texts},
    render_html, run_as_server,
};
use crate::{
    markdown::{MarkdownLoader, MarkdownView, Prose},
    panel,
};
use parlor_pages::payloads::PayloadViews;
use parlor_protocol::{Payload, RawJson};

/// The elements and attributes of the pages with harmless texts.
fn allowed_names() -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for text in [HARMLESS_MARKDOWN, "text"] {
        let (page, url) = pages::conversation(&Texts::uniform(text));
        allowed.append(&mut parse_html(&render_html(&page, &url)).names);
        for other in pages::other_pages(text) {
            allowed.append(&mut parse_html(&render_html(&other.make(), &other.url)).names);
        }
    }
    assert_no_code(&allowed);
    // Formulas are typed elements, without URLs.
    let url = allowed
        .iter()
        .find(|name| name.starts_with('m') && name.ends_with("href"));
    assert_eq!(url, None);
    allowed
}

#[test]
fn no_text_of_a_shared_page_becomes_markup() {
    assert_harmless_in("a shared page", |text| pages::shared_page(text).concat());
}

mod properties {
    use super::*;

    /// Each string is on the page of a conversation and on every fourth other page; on which ones, depends on the seed.
    #[test]
    fn no_text_of_a_page_becomes_markup() {
        let allowed = allowed_names();
        let batches = batches(&collections());
        for seed in fuzzing::test_seeds!() {
            // The longest test of this crate, on all cores.
            let threads = available_parallelism().map_or(1, NonZero::get);
            let next = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while let Some((index, text)) =
                            batches.iter().enumerate().nth(next.fetch_add(1, Relaxed))
                        {
                            check(index, text, seed, &allowed);
                        }
                    });
                }
            });
        }
    }

    fn check(index: usize, text: &str, seed: u64, allowed: &BTreeSet<String>) {
        let (page, url) = pages::conversation(&Texts::uniform(text));
        let made = parse_html(&render_html(&page, &url));
        assert_harmless(&format!("batch {index}"), &made, allowed);
        assert!(
            made.text.contains(&parsed_text(text)),
            "batch {index}: the question is shown as it is"
        );
        for (number, other) in pages::other_pages(text).iter().enumerate() {
            if pages::is_tried(seed, index, number) {
                let made = parse_html(&render_html(&other.make(), &other.url));
                assert_harmless(&format!("batch {index} at {}", other.url), &made, allowed);
            }
        }
    }
}

#[test]
fn no_markdown_becomes_markup() {
    let allowed = allowed_names();
    for text in &collections() {
        let html = run_as_server(|| {
            provide_context(MarkdownLoader::start());
            view! { <MarkdownView prose=Prose::finished(text) prefix="m"/> }.to_html()
        });
        assert_harmless(text, &parse_html(&html), &allowed);
    }
}

/// Data of every panel type, with a text in all places.
fn panel_data(text: &str) -> Vec<(&'static str, Value)> {
    let article = json!({ "title": text, "pmid": text, "authors": [text], "journal": text, "url": text, "doi": text,
        "abstract": text, "published": text });
    vec![
        ("pubmed_article", article.clone()),
        (
            "pubmed_search_results",
            json!({ "query": text, "articles": [article] }),
        ),
        (
            "chart",
            json!({ "kind": "bar", "title": text, "x": [text], "x_label": text, "y_label": text,
            "series": [{ "name": text, "values": [1.5] }] }),
        ),
        (
            "query_suggestion",
            json!({ "query": text, "reason": text, "explanation": text }),
        ),
        (
            "stream_suggestions",
            json!({ "name": text, "purpose": text, "explanation": text, "base": { "name": text } }),
        ),
        (
            "schema_proposal",
            json!({ "fields": [{ "name": text, "question": text, "type": "text" }], "explanation": text }),
        ),
        (
            "presentation_categories",
            json!({ "categories": [{ "name": text, "description": text }], "explanation": text }),
        ),
        (
            "ai_column_suggestion",
            json!({ "name": text, "question": text, "type": "date", "explanation": text }),
        ),
        ("table", json!({ "columns": [text], "rows": [[text], [1]] })),
        ("text_document", json!({ "title": text, "text": text })),
        (
            "text_document",
            json!({ "title": text, "of": "abc", "versions": [{ "text": text }, { "text": "b" }] }),
        ),
        (
            "web_search_results",
            json!({ "query": text, "results": [{ "title": text, "url": text, "snippet": text }] }),
        ),
        ("unknown", json!({ text: [text, { text: text }] })),
    ]
}

fn panel_html(text: &str) -> Vec<String> {
    let view = |(kind, data): (&str, Value)| {
        let view = PayloadViews::built_in().view(&Payload {
            payload_id: "payload_1".into(),
            kind: kind.into(),
            summary: text.into(),
            data: RawJson::parse_or_quote(&data.to_string()),
        });
        run_as_server(|| {
            provide_context(MarkdownLoader::start());
            panel::body(&view).to_html()
        })
    };
    panel_data(text).into_iter().map(view).collect()
}

#[test]
fn nothing_in_the_panel_becomes_markup() {
    let mut allowed = allowed_names();
    for text in [HARMLESS_MARKDOWN, "text", "https://example.com/"] {
        for html in panel_html(text) {
            allowed.append(&mut parse_html(&html).names);
        }
    }
    for (index, text) in batches(&collections()).iter().enumerate() {
        for html in panel_html(text) {
            assert_harmless(&format!("batch {index}"), &parse_html(&html), &allowed);
        }
    }
}
