//! Drafts on the pages *Streams* and *Edit stream*: what the assistant proposes, and what the person accepts.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{call_rpc, load_library, pubmed_settings, start_parlor};
use crate::support::{
    Parlor, joined_deltas, last_messages, last_system_prompt, raw_model_calls, read_json, string_field,
};

const ASK: &str = "Propose something";
const SUGGESTION: &str =
    r#"STREAM_SUGGESTIONS: {"query": "tide*[ti]", "purpose": "Coasts", "explanation": "Wider."}"#;

fn edit_context(fields: Value) -> Value {
    let mut context = json!({ "current_page": "edit_stream" });
    if let (Some(context), Value::Object(fields)) = (context.as_object_mut(), fields) {
        context.extend(fields);
    }
    context
}

/// The form with a name and a query.
fn tides_form() -> Value {
    edit_context(json!({ "draft": { "stream": { "name": "Tides", "query": "tides[ti]" } } }))
}

/// Asks on the page, in a new conversation or an old one.
async fn ask(parlor: &Parlor, conversation: Option<&str>, message: &str, context: &Value) -> Vec<Value> {
    let mut request = json!({ "message": message, "model": "test/any", "context": context });
    if let Some(conversation) = conversation {
        request["conversation_id"] = conversation.into();
    }
    parlor.chat(&request).await.read_to_end().await
}

/// Has the model write a text on the page. Returns the conversation, and the payload if there is one.
async fn propose(upstream: &Upstream, parlor: &Parlor, said: &str) -> (String, Option<Value>) {
    upstream.add_script(When::user_contains(ASK), Script::new().text(said));
    let events = ask(parlor, None, ASK, &tides_form()).await;
    let made = events.iter().find(|event| event["type"] == "payload_made");
    let conversation = string_field(&events[0], "conversation_id");
    (conversation, made.map(|made| made["payload"].clone()))
}

/// Has the model make the suggestion. Returns the conversation and the payload's id.
async fn suggest(upstream: &Upstream, parlor: &Parlor) -> (String, String) {
    let (conversation, payload) = propose(upstream, parlor, SUGGESTION).await;
    let payload = payload.expect("a payload");
    (conversation, string_field(&payload, "payload_id"))
}

async fn judge(parlor: &Parlor, (conversation, payload): (&str, &str), verdict: &Value) -> (u16, Value) {
    let path = format!("/api/conversations/{conversation}/payloads/{payload}/verdict");
    let request = parlor.post(&path, verdict);
    let key = Uuid::now_v7().to_string();
    let response = request.header("idempotency-key", key).send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

async fn view(parlor: &Parlor, conversation: &str, payload: &str) -> Value {
    let path = format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}");
    parlor.get_json(&path).await.1
}

#[tokio::test]
async fn proposal_is_compared_with_the_form() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let (conversation, payload) = suggest(&upstream, &parlor).await;
    let view = view(&parlor, &conversation, &payload).await;
    assert_eq!(view["is_proposal"], true);
    let proposal = &view["body"]["proposal"];
    assert_eq!(
        (&proposal["draft"], &proposal["explanation"]),
        (&json!("stream"), &json!("Wider."))
    );
    let fields = proposal["fields"].as_array().unwrap();
    let told: Vec<_> = fields
        .iter()
        .map(|field| (&field["change"]["name"], &field["change"]["text"], &field["base"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("purpose"), &json!("Coasts"), &json!("")),
            (&json!("query"), &json!("tide*[ti]"), &json!("tides[ti]")),
        ]
    );
    // The answer itself shows it.
    let path = format!("/api/conversations/{conversation}/payloads/{payload}");
    let stored = parlor.get_json(&path).await.1;
    assert_eq!(stored["type"], "stream_suggestions");
    // The model sees what it wrote.
    ask(&parlor, Some(&conversation), "Thanks", &tides_form()).await;
    let said = &last_messages(&upstream)[1].1;
    assert!(
        said.starts_with("STREAM_SUGGESTIONS: ") && !said.contains("base"),
        "{said}"
    );
}

#[tokio::test]
async fn partly_accepted_proposal_survives_a_restart() {
    let (folder, upstream, parlor) = start_parlor().await;
    let (conversation, payload) = suggest(&upstream, &parlor).await;
    let ids = (conversation.as_str(), payload.as_str());
    let part = json!({ "verdict": "accepted", "accepted_fields": ["query"] });
    let first = json!({ "payload_id": payload, "verdict": "accepted", "accepted_fields": ["query"] });
    assert_eq!(judge(&parlor, ids, &part).await, (200, first.clone()));
    // Another tab is too late, whatever it accepts.
    for late in [
        json!({ "verdict": "accepted" }),
        json!({ "verdict": "accepted", "accepted_fields": ["purpose"] }),
        json!({ "verdict": "rejected" }),
    ] {
        assert_eq!(judge(&parlor, ids, &late).await, (200, first.clone()));
    }
    parlor.stop().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, pubmed_settings(&upstream)).await;
    let path = format!("/api/conversations/{conversation}/payloads/{payload}");
    let stored = parlor.get_json(&path).await.1;
    assert_eq!(
        (&stored["verdict"], &stored["accepted_fields"]),
        (&json!("accepted"), &json!(["query"]))
    );
    let transcript = parlor.transcript(&conversation).await;
    assert_eq!(transcript["verdicts"], json!([first]));
    ask(&parlor, Some(&conversation), "Thanks", &tides_form()).await;
    let told = last_system_prompt(&upstream);
    assert!(told.contains("The person accepted of it only: query."), "{told}");
}

#[tokio::test]
async fn whole_and_rejected_proposals_are_told() {
    for (verdict, sentence) in [
        ("accepted", "The person accepted it."),
        ("rejected", "The person rejected it."),
    ] {
        let (_folder, upstream, parlor) = start_parlor().await;
        let (conversation, payload) = suggest(&upstream, &parlor).await;
        let ids = (conversation.as_str(), payload.as_str());
        assert_eq!(judge(&parlor, ids, &json!({ "verdict": verdict })).await.0, 200);
        ask(&parlor, Some(&conversation), "Thanks", &tides_form()).await;
        let told = last_system_prompt(&upstream);
        assert!(told.contains(sentence), "{told}");
    }
}

#[tokio::test]
async fn verdict_names_only_proposed_fields() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let (conversation, payload) = suggest(&upstream, &parlor).await;
    let ids = (conversation.as_str(), payload.as_str());
    for wrong in [
        json!({ "verdict": "accepted", "accepted_fields": ["name"] }),
        json!({ "verdict": "accepted", "accepted_fields": ["query", "query"] }),
        json!({ "verdict": "rejected", "accepted_fields": ["query"] }),
    ] {
        assert_eq!(judge(&parlor, ids, &wrong).await.0, 400, "{wrong}");
    }
    let path = format!("/api/conversations/{conversation}/payloads/{payload}");
    assert_eq!(parlor.get_json(&path).await.1.get("verdict"), None);
}

#[tokio::test]
async fn every_kind_of_proposal_is_read() {
    for (said, draft, fields) in [
        (SUGGESTION, "stream", json!(["purpose", "query"])),
        (
            r#"QUERY_SUGGESTION: {"query": "tides"}"#,
            "stream",
            json!(["query"]),
        ),
        (
            r#"SCHEMA_PROPOSAL: {"fields": [{"name": "n", "question": "How many?", "type": "number"}], "remove": ["age"]}"#,
            "schema",
            json!(["n", "age"]),
        ),
        (
            r#"AI_COLUMN_SUGGESTION: {"name": "blinded", "question": "Was it blinded?", "type": "yes_no"}"#,
            "schema",
            json!(["blinded"]),
        ),
        (
            r#"PRESENTATION_CATEGORIES: {"categories": [{"name": "Trials", "description": "Randomised"}]}"#,
            "categories",
            json!(["Trials"]),
        ),
    ] {
        let (_folder, upstream, parlor) = start_parlor().await;
        let (conversation, payload) = propose(&upstream, &parlor, said).await;
        let payload = payload.unwrap_or_else(|| panic!("{said}"));
        assert_eq!(payload["preview_rows"], json!(fields.as_array().unwrap().len()));
        let view = view(&parlor, &conversation, payload["payload_id"].as_str().unwrap()).await;
        let proposal = &view["body"]["proposal"];
        let names = proposal["fields"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|field| field["change"]["name"].clone()).collect();
        assert_eq!(
            (&proposal["draft"], json!(names)),
            (&json!(draft), fields),
            "{said}"
        );
    }
}

#[tokio::test]
async fn invalid_proposal_is_corrected_once() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(
        When::user_contains("did not accept your STREAM_SUGGESTIONS"),
        Script::new().text(SUGGESTION),
    );
    let wrong = r#"Here it is: STREAM_SUGGESTIONS: {"colour": "red"}"#;
    upstream.add_script(When::user_contains(ASK), Script::new().text(wrong));
    let events = ask(&parlor, None, ASK, &tides_form()).await;
    assert_eq!(joined_deltas(&events, "text_delta").trim(), "Here it is:");
    let made: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "payload_made")
        .collect();
    assert_eq!(made.len(), 1);
    assert_eq!(events.last().unwrap()["type"], "complete");
    let request = last_messages(&upstream).last().unwrap().1.clone();
    assert!(
        request.contains("unknown field `colour`, expected one of `name`, `purpose`, `query`, `instructions`, `explanation`"),
        "{request}"
    );
}

#[tokio::test]
async fn proposal_that_stays_invalid_becomes_text() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let wrong = r#"STREAM_SUGGESTIONS: {"colour": "red"}"#;
    upstream.add_script(When::any(), Script::new().text(wrong));
    upstream.add_script(When::any(), Script::new().text(wrong));
    let before = raw_model_calls(&upstream).len();
    let events = ask(&parlor, None, ASK, &tides_form()).await;
    assert_eq!(joined_deltas(&events, "text_delta"), wrong);
    assert!(events.iter().all(|event| event["type"] != "payload_made"));
    assert!(
        raw_model_calls(&upstream).len() - before <= 3,
        "asked for one correction, and a title"
    );
}

#[tokio::test]
async fn hostile_proposals_change_nothing_else() {
    let (_folder, upstream, parlor) = start_parlor().await;
    // Markup stays a text, and what the form had is taken from the form.
    let markup =
        r#"STREAM_SUGGESTIONS: {"name": "<img src=x onerror=alert(1)>", "base": {"name": "forged"}}"#;
    let (conversation, payload) = propose(&upstream, &parlor, markup).await;
    let payload = payload.expect("a payload");
    let view = view(&parlor, &conversation, payload["payload_id"].as_str().unwrap()).await;
    let field = &view["body"]["proposal"]["fields"][0];
    assert_eq!(
        (&field["change"]["text"], &field["base"]),
        (&json!("<img src=x onerror=alert(1)>"), &json!("Tides"))
    );
    // A field of nearly 1 MB is no proposal.
    let words: String = (0..150_000).map(|number| format!("{number} ")).collect();
    let huge = format!(r#"STREAM_SUGGESTIONS: {{"name": "{words}"}}"#);
    let (conversation, payload) = propose(&upstream, &parlor, &huge).await;
    assert_eq!(payload, None);
    let transcript = parlor.transcript(&conversation).await.to_string();
    assert!(
        transcript.contains("STREAM_SUGGESTIONS: "),
        "{}",
        &transcript[..500]
    );
}

#[tokio::test]
async fn context_has_the_form_and_names_what_is_omitted() {
    let (_folder, upstream, parlor) =
        super::start_with(|settings| settings.limits.context_bytes = 2000).await;
    let instructions = "Read closely. ".repeat(500);
    let context = edit_context(json!({ "draft": {
        "stream": { "name": "Tides", "query": "tides[ti]", "instructions": instructions },
        "schema": [{ "name": "n", "question": "How many?", "type": "number" }],
    } }));
    ask(&parlor, None, ASK, &context).await;
    let told = last_system_prompt(&upstream);
    for line in [
        "name: Tides",
        "query: tides[ti]",
        "- n (number): How many?",
        "instructions: (too long to be sent here)",
        "The person edits a new stream, which is not saved.",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("Read closely."), "{told}");
}

#[tokio::test]
async fn stream_is_saved_with_schema_and_categories() {
    let (folder, upstream, parlor) = start_parlor().await;
    let id = Uuid::now_v7().to_string();
    let stream = json!({
        "id": id, "name": "Tides", "purpose": "Coasts", "query": "tides[ti]", "instructions": "",
        "schema": [{ "name": "n", "question": "How many?", "type": "number" }],
        "categories": [{ "name": "Trials", "description": "Randomised" }],
    });
    call_rpc(&parlor, "save_stream", &json!({ "stream": stream })).await;
    parlor.stop().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, pubmed_settings(&upstream)).await;
    assert_eq!(load_library(&parlor).await["streams"], json!([stream]));
    let mut twice = stream.clone();
    twice["schema"] = json!([
        { "name": "n", "question": "How many?", "type": "number" },
        { "name": "n", "question": "How much?", "type": "text" },
    ]);
    let refused = parlor.post("/rpc/save_stream", &json!({ "stream": twice }));
    assert_eq!(refused.send().await.unwrap().status(), 400);
    // The open stream is described as it is saved.
    ask(&parlor, None, ASK, &edit_context(json!({ "stream_id": id }))).await;
    let told = last_system_prompt(&upstream);
    assert!(
        told.contains("purpose: Coasts") && told.contains("- Trials: Randomised"),
        "{told}"
    );
}

#[tokio::test]
async fn address_of_a_foreign_stream_is_not_found() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let foreign = Uuid::now_v7();
    for (path, status) in [
        (format!("/stream/{foreign}"), 404),
        ("/stream/nowhere".into(), 404),
        ("/stream/new".into(), 200),
        ("/streams".into(), 200),
        ("/streams/x".into(), 404),
    ] {
        assert_eq!(parlor.get(&path).send().await.unwrap().status(), status, "{path}");
    }
    let context = edit_context(json!({ "stream_id": foreign }));
    let request = json!({ "message": ASK, "model": "test/any", "context": context });
    let refused = parlor.post("/api/chat/stream", &request).send().await.unwrap();
    assert_eq!(refused.status(), 422);
}

#[tokio::test]
async fn streams_are_listed_on_their_page() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let stream = json!({ "id": Uuid::now_v7(), "name": "Sea level", "query": "tides", "instructions": "" });
    call_rpc(&parlor, "save_stream", &json!({ "stream": stream })).await;
    upstream.add_script(When::user_contains(ASK), Script::new().text(SUGGESTION));
    let events = ask(&parlor, None, ASK, &json!({ "current_page": "streams" })).await;
    assert!(events.iter().any(|event| event["type"] == "payload_made"));
    let told = last_system_prompt(&upstream);
    assert!(told.contains("Sea level: tides."), "{told}");
    let page = parlor.get("/streams").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Sea level"));
}
