//! Blocks that go back to the server, and cited documents.

use super::*;

#[test]
fn keeps_the_summary_of_a_compaction() {
    let mut events = vec![
        message_start(),
        start(0, json!({ "type": "compaction", "content": null })),
        delta(0, json!({ "type": "compaction_delta", "content": "They " })),
        delta(0, json!({ "type": "compaction_delta", "content": "spoke." })),
        stop(0),
        start(1, json!({ "type": "text", "text": "So." })),
        stop(1),
        start(2, json!({ "type": "container_upload", "file_id": "f" })),
        stop(2),
    ];
    events.extend(message_end("end_turn"));
    let (events, error) = decode_events(&events);
    assert_eq!(error, None);
    let kept: Vec<&ModelEvent> = events
        .iter()
        .filter(|event| {
            matches!(
                event,
                ModelEvent::ProviderData { .. } | ModelEvent::Unreadable { .. }
            )
        })
        .collect();
    assert_eq!(
        kept,
        [
            &blocks(&json!([{ "type": "compaction", "content": "They spoke." }])),
            &blocks(&json!([[3, "So."], { "type": "container_upload", "file_id": "f" }])),
        ]
    );
    let mut paused = vec![message_start()];
    paused.extend(message_end("compaction"));
    assert_eq!(
        decode_events(&paused).0.last(),
        Some(&Finished(FinishReason::PauseTurn))
    );
}

#[test]
fn lists_cited_documents() {
    let citation = |fields: Value| delta(0, json!({ "type": "citations_delta", "citation": fields }));
    let mut events = vec![
        message_start(),
        start(0, json!({ "type": "text", "text": "So." })),
        citation(
            json!({ "type": "page_location", "document_index": 0, "document_title": "plan.pdf", "start_page_number": 1 }),
        ),
        citation(
            json!({ "type": "page_location", "document_index": 0, "document_title": "plan.pdf", "start_page_number": 5 }),
        ),
        citation(
            json!({ "type": "char_location", "document_index": 1, "document_title": null, "file_id": null }),
        ),
        citation(
            json!({ "type": "web_search_result_location", "url": "https://a.example/b c", "title": "A" }),
        ),
        citation(json!({ "type": "search_result_location", "source": "handbook", "title": "Rules" })),
        citation(json!({ "type": "from_the_future" })),
        stop(0),
    ];
    events.extend(message_end("end_turn"));
    let (events, _) = decode_events(&events);
    let mut lists = events.iter().filter_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let listed: Vec<(usize, &str, &str)> = lists
        .next_back()
        .into_iter()
        .flatten()
        .map(|source| (source.number, &*source.title, &*source.url))
        .collect();
    assert_eq!(
        listed,
        [
            (1, "plan.pdf", ""),
            (2, "Document 2", ""),
            (3, "A", "https://a.example/b%20c"),
            (4, "Rules", "")
        ]
    );
}
