//! The sources that the server names for an answer.

use super::*;

/// Returns the titles and URLs of the last list of sources.
fn last_sources(events: &[ModelEvent]) -> Vec<(&str, &str)> {
    let mut lists = events.iter().filter_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let last = lists.next_back().into_iter().flatten();
    last.map(|source| (&*source.title, &*source.url)).collect()
}

#[test]
fn lists_cited_pages_files_and_containers() {
    let annotations = json!([
        { "type": "url_citation", "url": "https://a.example/b c.pdf", "title": "A" },
        { "type": "file_citation", "file_id": "file-1", "filename": "plan.pdf", "index": 3 },
        { "type": "file_citation", "file_id": "file-1", "filename": "plan.pdf", "index": 9 },
        { "type": "container_file_citation", "container_id": "c", "file_id": "cfile-1", "filename": "plot.png" },
        { "type": "file_path", "file_id": "file-2", "index": 1 },
        { "type": "from_the_future" },
    ]);
    let part = json!({ "type": "output_text", "text": "So.", "annotations": annotations });
    let (events, _) = decode_events(&[
        done(0, json!({ "type": "message", "content": [part] })),
        end("completed", json!({})),
    ]);
    assert_eq!(
        last_sources(&events),
        [
            ("A", "https://a.example/b%20c.pdf"),
            ("plan.pdf", ""),
            ("plot.png", ""),
            ("file-2", "")
        ]
    );
}
