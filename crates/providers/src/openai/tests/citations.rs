//! The sources that servers name for an answer.

use serde_json::json;

use super::synthetic::{delta, events_of, finish};
use parlor_model::ModelEvent::{self, Text};
use parlor_protocol::CitedSource;

#[test]
fn empty_citation_list_keeps_sources() {
    let mut first = delta(json!({"content": "So[1]."}));
    first["citations"] = json!(["https://a.example/1"]);
    let mut last = finish("stop");
    last["citations"] = json!([]);
    last["search_results"] = json!([]);
    let (events, _) = events_of(&[first, last]);
    let sources: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Sources(sources) => Some(sources.len()),
            _ => None,
        })
        .collect();
    assert_eq!(sources, [1]);
}

/// Returns the numbers, titles and URLs of each list of sources.
fn source_lists(events: &[ModelEvent]) -> Vec<Vec<(usize, &str, &str)>> {
    fn parts(source: &CitedSource) -> (usize, &str, &str) {
        (source.number, &source.title, &source.url)
    }
    let lists = events.iter().filter_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources.iter().map(parts).collect()),
        _ => None,
    });
    lists.collect()
}

#[test]
fn late_results_add_titles() {
    let mut first = delta(json!({"content": "So[2]."}));
    first["citations"] = json!(["https://a.example/1", {"url": "https://b.example/2", "title": "B"}]);
    let mut last = finish("stop");
    last["search_results"] =
        json!([{"url": "https://c.example/3", "title": "C"}, {"url": "https://a.example/1", "title": "A"}]);
    let (events, _) = events_of(&[first, last]);
    let (a, b) = ("https://a.example/1", "https://b.example/2");
    assert_eq!(
        source_lists(&events),
        [vec![(1, "", a), (2, "B", b)], vec![(1, "A", a), (2, "B", b)]]
    );
}

#[test]
fn final_message_adds_annotations() {
    let mut last = finish("stop");
    last["choices"][0]["message"] = json!({"content": "Hi", "annotations": [
        {"type": "url_citation", "url": "https://a.example/1", "title": "A"},
        {"type": "file_citation", "url": "https://b.example/2"},
        {"type": "url_citation", "url_citation": {"url": "https://c.example/3", "title": "C"}},
    ]});
    let (events, _) = events_of(&[delta(json!({"content": "Hi"})), last]);
    let pages = vec![(1, "A", "https://a.example/1"), (2, "C", "https://c.example/3")];
    assert_eq!(source_lists(&events), [pages]);
    assert_eq!(events[0], Text("Hi".into()));
}

#[test]
fn lists_cited_files_and_pages_with_spaces() {
    let mut first = delta(json!({"content": "So[1]."}));
    first["citations"] = json!(["https://a.example/b c.pdf"]);
    let mut last = finish("stop");
    last["choices"][0]["delta"] = json!({"annotations": [
        {"type": "url_citation", "url_citation": {"url": " https://b.example/c d", "title": "B"}},
        {"type": "file_citation", "file_citation": {"file_id": "file-1", "filename": "plan.pdf"}},
        {"type": "file_citation", "filename": "plan.pdf", "file_id": "file-1", "index": 3},
        {"type": "container_file_citation", "file_id": "file-2"},
        {"type": "file", "file": {"hash": "x", "name": "own.pdf"}},
    ]});
    let (events, _) = events_of(&[first, last]);
    assert_eq!(
        source_lists(&events).last().unwrap(),
        &[
            (1, "", "https://a.example/b%20c.pdf"),
            (2, "B", "https://b.example/c%20d"),
            (3, "plan.pdf", ""),
            (4, "file-2", ""),
            (5, "own.pdf", ""),
        ]
    );
}
