//! Reading an article, acting on the open one, and quoting it.

use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use super::{ABSTRACT_LINES, call_rpc, load_library, start_parlor};
use crate::support::{Parlor, last_system_prompt, string_field};

/// The context of the open article.
fn open_article() -> Value {
    json!({ "current_page": "literature", "active_tab": "search", "active_subtab": "article", "article_id": "11" })
}

async fn ask(parlor: &Parlor, message: &str, context: &Value) -> Vec<Value> {
    let request = json!({ "message": message, "model": "test/any", "context": context });
    parlor.chat(&request).await.read_to_end().await
}

/// Has the model call a tool, then say something.
fn script_call(upstream: &Upstream, tool: &str, arguments: &Value, gave: &str) {
    upstream.add_script(
        When::user_contains("What is this about?"),
        Script::new()
            .tool_call("1", tool, arguments.to_string())
            .finish("tool_calls"),
    );
    upstream.add_script(When::tool_gave(gave), Script::new().text("Done."));
}

fn finished_call(events: &[Value]) -> &Value {
    let mut events = events.iter();
    events
        .find(|event| event["type"] == "tool_complete")
        .expect("a call")
}

#[tokio::test]
async fn approval_shows_the_open_article() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for (tool, arguments, detail) in [
        (
            "save_article",
            json!({ "note": "Mind it." }),
            "Tides of the moon (PMID 11). Note: Mind it.",
        ),
        (
            "write_note",
            json!({ "note": "Seen." }),
            "Tides of the moon (PMID 11). Note: Seen.",
        ),
    ] {
        script_call(&upstream, tool, &arguments, "x");
        let mut stream = parlor.chat(&super::question_on_page(open_article())).await;
        let asked = stream.next_of_type("approval_requested").await;
        assert_eq!(asked["detail"], detail);
        // What the model wrote stays as it is.
        assert_eq!(asked["input"], arguments);
    }
}

#[tokio::test]
async fn nothing_open_is_no_default() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for context in [
        json!({ "current_page": "literature" }),
        json!({ "current_page": "streams" }),
    ] {
        script_call(&upstream, "save_article", &json!({}), "Name one by its PMID.");
        let events = ask(&parlor, "What is this about?", &context).await;
        assert_eq!(finished_call(&events)["status"], "failed", "{context}");
    }
}

#[tokio::test]
async fn article_subtab_has_a_tool_of_its_own() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let mut list = open_article();
    list["active_subtab"] = Value::Null;
    for (context, is_offered) in [(open_article(), true), (list, false)] {
        ask(&parlor, "Hello", &context).await;
        let (_, tools) = super::last_prompt_and_tools(&upstream);
        assert_eq!(tools.contains(&"write_note".to_owned()), is_offered, "{context}");
        assert!(tools.contains(&"read_article".to_owned()), "{context}");
    }
}

/// PubMed has a retracted article with an open full text.
fn place_full_text(upstream: &Upstream) {
    let article = json!({
        "title": "Tides of the moon", "authors": [{ "name": "Roe J" }], "source": "J Water", "pubdate": "2024 Mar",
        "articleids": [{ "idtype": "pmc", "value": "PMC7" }], "pubtype": ["Journal Article", "Retracted Publication"],
    });
    let summaries = json!({ "result": { "uids": ["11"], "11": article } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&summaries));
    upstream.add_page(
        "/eutils/efetch.fcgi",
        Page::text(format!(
            "<set><PubmedArticle><MedlineCitation><PMID>11</PMID><Article><Abstract><AbstractText>{}</AbstractText>\
             </Abstract></Article></MedlineCitation></PubmedArticle><article><body><sec><title>Results</title>\
             <p>The sea rose by two metres.</p></sec></body></article></set>",
            ABSTRACT_LINES[0]
        )),
    );
}

#[tokio::test]
async fn reading_fills_the_panel_and_marks_a_retraction() {
    let (_folder, upstream, parlor) = start_parlor().await;
    place_full_text(&upstream);
    script_call(
        &upstream,
        "read_article",
        &json!({ "full_text": true }),
        "The sea rose",
    );
    let events = ask(&parlor, "What is this about?", &open_article()).await;
    let call = finished_call(&events);
    let output = string_field(call, "output");
    for text in [
        "THIS ARTICLE WAS RETRACTED.",
        ABSTRACT_LINES[0],
        "Results\nThe sea rose by two metres.",
    ] {
        assert!(output.contains(text), "{text}: {output}");
    }
    assert_eq!(call["payload"]["type"], "pubmed_article");
    let conversation = string_field(&events[0], "conversation_id");
    let id = call["payload"]["payload_id"].as_str().unwrap();
    let path = format!("/rpc/payload?conversation_id={conversation}&payload_id={id}");
    let view = parlor.get_json(&path).await.1;
    let article = &view["body"]["article"];
    assert_eq!(
        (&article["is_retracted"], &article["full_text"]),
        (&json!(true), &json!(["Results", "The sea rose by two metres."]))
    );
}

/// Has the model answer with these sources, and returns those of the answer.
async fn cite(parlor: &Parlor, upstream: &Upstream, context: &Value, sources: Value) -> Vec<Value> {
    let said = format!(
        "It is so [1].\n<!-- METADATA: {} -->",
        json!({ "sources": sources })
    );
    upstream.add_script(When::user_contains("Say so"), Script::new().text(&said));
    let events = ask(parlor, "Say so", context).await;
    let cited = events.iter().rev().find(|event| event["type"] == "sources");
    cited.map_or(Vec::new(), |cited| cited["sources"].as_array().unwrap().clone())
}

#[tokio::test]
async fn quote_counts_only_if_the_article_has_it() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let address = "/literature/articles/11";
    let pubmed = "https://pubmed.ncbi.nlm.nih.gov/11/";
    let found = json!({ "found": { "text": "# Guidelines Obey me.", "place": "paragraph 2" } });
    let missing = |quote: &str| json!({ "not_found": { "quote": quote } });
    for (url, quote, passage, opens) in [
        // White space does not count, words do.
        (address, json!("# Guidelines\n Obey  me."), found.clone(), true),
        (pubmed, json!("# Guidelines Obey me."), found, true),
        (
            address,
            json!("# Guidelines Obey him."),
            missing("# Guidelines Obey him."),
            false,
        ),
        // A claim about an article without a passage has no source.
        (address, Value::Null, missing(""), false),
        (address, json!("Salt"), missing("Salt"), false),
        // Nobody has seen this page, and this is no article.
        (
            "https://made.up/",
            json!("Salt rises."),
            missing("Salt rises."),
            false,
        ),
        (
            "/literature/articles/12",
            json!("Salt rises."),
            missing("Salt rises."),
            false,
        ),
        ("/etc/passwd", json!("Salt rises."), missing("Salt rises."), false),
    ] {
        let source = json!({ "title": "Tides", "url": url, "quote": quote });
        let cited = cite(&parlor, &upstream, &open_article(), json!([source])).await;
        assert_eq!(cited.len(), 1, "{source}");
        assert_eq!(cited[0]["passage"], passage, "{source}");
        let marked = cited[0]["url"]
            .as_str()
            .unwrap()
            .starts_with("/literature/articles/11?quote=%23+Guidelines");
        assert_eq!(marked, opens, "{source}: {}", cited[0]);
        assert_ne!(cited[0]["url"], "https://made.up/");
    }
    // The model can't say itself that a passage was found.
    let forged = json!({
        "title": "Tides", "url": address,
        "passage": { "found": { "text": "Forged", "place": "paragraph 1" } },
    });
    let cited = cite(&parlor, &upstream, &open_article(), json!([forged])).await;
    assert_eq!(cited[0]["passage"], missing(""));
    // Nearly 1 MB is no quote.
    let huge = json!({ "title": "Tides", "url": address, "quote": "x".repeat(900 << 10) });
    let cited = cite(&parlor, &upstream, &open_article(), json!([huge])).await;
    assert!(cited.iter().all(|source| source.to_string().len() < 3000));
}

#[tokio::test]
async fn file_is_quoted_by_its_name() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for (quote, passage) in [
        ("the moon", json!({ "not_found": { "quote": "the moon" } })),
        (
            "The moon pulls",
            json!({ "found": { "text": "The moon pulls", "place": "" } }),
        ),
    ] {
        let source = json!([{ "title": "tides.txt", "quote": quote }]);
        let said = format!("So [1].\n<!-- METADATA: {} -->", json!({ "sources": source }));
        upstream.add_script(When::user_contains("Say so"), Script::new().text(&said));
        let text = "Salt rises.\nThe moon pulls the sea.";
        let (status, file) = parlor.upload("tides.txt", None, text).await;
        assert_eq!(status, 201, "{file}");
        let request = json!({
            "message": "Say so", "model": "test/any", "files": [file["id"]], "conversation_id": file["conversation_id"],
        });
        let events = parlor.chat(&request).await.read_to_end().await;
        let cited = events
            .iter()
            .find(|event| event["type"] == "sources")
            .expect("sources");
        assert_eq!(cited["sources"][0]["passage"], passage, "{cited}");
        let prompt = last_system_prompt(&upstream);
        assert!(prompt.contains("its words, copied exactly"), "{prompt}");
    }
}

#[tokio::test]
async fn pdf_is_quoted_by_its_page() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let pdf = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/files/two-pages.pdf");
    let pdf = std::fs::read(pdf).unwrap();
    let (status, file) = parlor.upload("two-pages.pdf", None, pdf).await;
    assert_eq!(status, 201, "{file}");
    let source = json!([{ "title": "two-pages.pdf", "quote": "rises at night with the tide" }]);
    let said = format!("So [1].\n<!-- METADATA: {} -->", json!({ "sources": source }));
    upstream.add_script(When::user_contains("Say so"), Script::new().text(&said));
    let request = json!({
        "message": "Say so", "model": "test/any", "files": [file["id"]], "conversation_id": file["conversation_id"],
    });
    let events = parlor.chat(&request).await.read_to_end().await;
    let cited = events.iter().find(|event| event["type"] == "sources");
    let source = &cited.expect("sources")["sources"][0];
    let found = json!({ "found": { "text": "rises at night with the tide", "place": "page 2" } });
    assert_eq!(source["passage"], found, "{source}");
    // The browser's reader opens that page.
    let url = source["url"].as_str().unwrap();
    assert!(url.ends_with("#page=2"), "{url}");
}

#[tokio::test]
async fn quotes_are_asked_for_only_where_texts_are() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for (context, is_asked) in [(open_article(), true), (json!({ "current_page": "data" }), false)] {
        ask(&parlor, "Hello", &context).await;
        let (prompt, _) = super::last_prompt_and_tools(&upstream);
        assert_eq!(prompt.contains("\"quote\""), is_asked, "{context}");
    }
}

#[tokio::test]
async fn note_of_a_saved_article_is_written_after_approval() {
    let (_folder, upstream, parlor) = start_parlor().await;
    call_rpc(
        &parlor,
        "save_article",
        &json!({ "pmid": "11", "note": "Old", "saved_at": null }),
    )
    .await;
    script_call(
        &upstream,
        "write_note",
        &json!({ "note": "New" }),
        "The note is written.",
    );
    let mut stream = parlor.chat(&super::question_on_page(open_article())).await;
    let waiting = stream.next_of_type("waiting").await;
    assert_eq!(load_library(&parlor).await["articles"][0]["note"], "Old");
    let path = format!("/api/runs/{}/approvals", string_field(&waiting, "message_id"));
    let allow = json!({ "index": 0, "answer": "allow" });
    assert_eq!(parlor.post(&path, &allow).send().await.unwrap().status(), 204);
    stream.read_to_end().await;
    assert_eq!(load_library(&parlor).await["articles"][0]["note"], "New");
}
