//! The sources that the server names for an answer.

use super::*;

#[test]
fn lists_cited_documents() {
    let chunks = json!([
        { "retrievedContext": { "uri": "gs://store/plan.pdf", "title": "plan.pdf" } },
        { "retrievedContext": { "documentName": "documents/7" } },
        { "retrievedContext": { "uri": "https://a.example/b c", "title": "A" } },
        { "maps": { "uri": "https://maps.example/1", "title": "Café" } },
        { "image": { "sourceUri": "https://images.example/1", "title": "Picture" } },
        { "retrievedContext": { "text": "Paris is the capital.", "fileSearchStore": "fileSearchStores/cities" } },
        { "retrievedContext": { "text": "Rome is another.", "fileSearchStore": "fileSearchStores/cities",
            "customMetadata": [{ "key": "year", "numericValue": 2026 }, { "key": "source_url", "stringValue": "https://cities.example/rome" }] } },
        { "fromTheFuture": {} },
    ]);
    let last = json!({ "candidates": [{ "finishReason": "STOP", "groundingMetadata": { "groundingChunks": chunks } }] });
    let (events, _) = decode_chunks(&[last]);
    let mut lists = events.iter().filter_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let listed: Vec<(&str, &str)> = lists
        .next_back()
        .into_iter()
        .flatten()
        .map(|source| (&*source.title, &*source.url))
        .collect();
    assert_eq!(
        listed,
        [
            ("plan.pdf", ""),
            ("documents/7", ""),
            ("A", "https://a.example/b%20c"),
            ("Café", "https://maps.example/1"),
            ("Picture", "https://images.example/1"),
            ("fileSearchStores/cities", ""),
            ("", "https://cities.example/rome"),
        ]
    );
}
