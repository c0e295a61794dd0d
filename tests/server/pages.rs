//! A second page, registered by one line: its context, tool, action and tabs over HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use parlor::server::{Server, built_in_pages};
use parlor_pages::{
    BuiltContext, ContextError, OpenPage, Page, PageDefinition, Scope, Tab, actions::Opening, fence_text,
};
use parlor_protocol::{ApiError, PageFields, PageInfo, RawJson, UserId};
use parlor_storage::StorageError;
use parlor_tools::{AnyTool, Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult, any_tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{
    Nothing, Parlor, last_model_call, last_system_prompt, raw_model_calls, read_json, settings, with_database,
};

static INFO: PageInfo = PageInfo {
    name: DeskFields::PAGE,
    path: "/desk",
    title: "Desk",
    has_tray: true,
};

static DESK: PageDefinition = PageDefinition {
    info: &INFO,
    identity: "You tidy up a desk.",
    brief_identity: "You tidy up.",
    scope: Scope::EMPTY,
    tabs: &[
        Tab {
            name: "top",
            scope: Scope::EMPTY,
            subtabs: &[],
        },
        Tab {
            name: "drawers",
            scope: Scope {
                tools: &["look_inside"],
                payloads: &[],
                openings: &[Opening {
                    data: r#"{"page": "desk", "drawer": 1}"#,
                    address: "/desk/drawers/1",
                }],
            },
            subtabs: &[],
        },
    ],
};

/// The open items of the page.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct DeskFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    drawer: Option<usize>,
}

impl PageFields for DeskFields {
    const PAGE: &'static str = "desk";
}

/// A page with two drawers.
struct Desk;

const DRAWERS: [&str; 2] = ["string", "stamps"];

#[async_trait]
impl Page for Desk {
    type Fields = DeskFields;

    fn definition(&self) -> &'static PageDefinition {
        &DESK
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        vec![any_tool(LookInside)]
    }

    async fn check(&self, _: UserId, open: &OpenPage<DeskFields>) -> Result<(), ContextError> {
        match open.fields.drawer {
            Some(drawer) if drawer >= DRAWERS.len() => {
                Err(ContextError::NotFound(format!("There is no drawer {drawer}.")))
            }
            _ => Ok(()),
        }
    }

    async fn describe(&self, _: UserId, open: &OpenPage<DeskFields>) -> Result<BuiltContext, StorageError> {
        let tab = open.tab.expect("the page has tabs");
        let drawer = open
            .fields
            .drawer
            .map_or("none".into(), |drawer| drawer.to_string());
        Ok(BuiltContext {
            text: format!("Tab {tab}, open drawer:\n{}", fence_text(&drawer)),
            instructions: "Mind the stamps.".into(),
        })
    }

    fn url(&self, asked: &OpenPage<DeskFields>, here: Option<&OpenPage<DeskFields>>) -> Option<String> {
        let drawer = asked.fields.drawer?;
        let from = here.and_then(|here| here.fields.drawer);
        let from = from.map_or(String::new(), |from| format!("?from={from}"));
        Some(format!("/desk/drawers/{drawer}{from}"))
    }

    async fn load(&self, _: UserId, url: &str) -> Result<RawJson, ApiError> {
        Ok(RawJson::parse_or_quote(&json!({ "opened": url }).to_string()))
    }
}

/// A tool that knows what is open.
struct LookInside;

impl Tool for LookInside {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("look_inside");
    const DESCRIPTION: &'static str = "Looks into the open drawer.";
    const LABEL: &'static str = "Looking";
    const DONE: &'static str = "Looked";

    async fn run(&self, _: Nothing, call: ToolContext) -> Result<ToolResult, ToolError> {
        let drawer = call.page::<DeskFields>().and_then(|open| open.drawer);
        let drawer = drawer.ok_or_else(|| ToolError::new("No drawer is open."))?;
        Ok(format!("Inside: {}", DRAWERS[drawer]).into())
    }
}

/// Starts a server with the page, whose model looks inside and then offers to close.
async fn start_parlor() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let settings = with_database(settings(folder.path(), &upstream, |_| {})).await;
    let tools = |_: &_| ToolRegistry::default();
    let server = Server::open_with(settings, tools, |services| {
        built_in_pages(services).with_page(Desk)
    });
    let parlor = Parlor::serve(server.await.expect("a server")).await;
    (folder, upstream, parlor)
}

fn question(context: Value) -> Value {
    json!({ "message": "What is in it?", "model": "test/any", "context": context })
}

fn offered_tools(call: &Value) -> Vec<&str> {
    let tools = call["tools"].as_array().into_iter().flatten();
    tools
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect()
}

const ANSWER_WITH_ACTION: &str = "Done.\nSUGGESTED_ACTIONS: [{\"label\": \"Open\", \"action\": \"open\", \"handler\": \"client\", \"data\": {\"page\": \"desk\", \"drawer\": 0}}]";

#[tokio::test]
async fn tool_knows_the_open_item() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(
        When::any(),
        Script::new()
            .tool_call("1", "look_inside", "{}")
            .finish("tool_calls"),
    );
    upstream.add_script(When::tool_gave("stamps"), Script::new().text(ANSWER_WITH_ACTION));
    let context = json!({ "current_page": "desk", "active_tab": "drawers", "drawer": 1, "colour": "red" });
    let events = parlor.chat(&question(context)).await.read_to_end().await;

    let looked = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .expect("a call");
    assert_eq!(looked["output"], "Inside: stamps");
    let suggested = events.iter().find(|event| event["type"] == "suggested_actions");
    // The page may complete the URL with what is open.
    let action = &suggested.expect("an action")["actions"][0];
    assert_eq!(
        (&action["action"], opening_of(action)),
        (
            &json!("open"),
            json!({ "page": "desk", "drawer": 0, "url": "/desk/drawers/0?from=1" })
        )
    );
    let prompt = last_system_prompt(&upstream);
    assert!(prompt.starts_with("You tidy up a desk."), "{prompt}");
    for text in [
        "Tab drawers, open drawer:\n```text\n1\n```",
        "Mind the stamps.",
        "or {\"page\": \"desk\", \"drawer\": 1}). In a text, link to the same: /desk/drawers/1.",
    ] {
        assert!(prompt.contains(text), "{text}: {prompt}");
    }
    assert_eq!(offered_tools(&last_model_call(&upstream)), ["look_inside"]);
    // The stored context is the page's, with its own fields only.
    let call_count = raw_model_calls(&upstream).len();
    parlor.regenerate(&events).await;
    assert_eq!(
        raw_model_calls(&upstream)[call_count..],
        raw_model_calls(&upstream)[..call_count]
    );
    let run = events[0]["message_id"].as_str().expect("a run");
    let path = format!("/api/messages/{run}/diagnostics");
    let response = parlor.get(&path).send().await.unwrap();
    let diagnostics: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let known = json!({ "current_page": "desk", "active_tab": "drawers", "drawer": 1 });
    assert_eq!(diagnostics["context"], known);
}

#[tokio::test]
async fn other_tab_offers_neither_tool_nor_opening() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(When::any(), Script::new().text(ANSWER_WITH_ACTION));
    for context in [
        json!({ "current_page": "desk", "active_tab": "top" }),
        json!({ "current_page": "desk" }),
        json!({ "current_page": "literature" }),
        Value::Null,
    ] {
        parlor.chat(&question(context.clone())).await.read_to_end().await;
        let told = last_system_prompt(&upstream);
        assert!(!told.contains("/desk/drawers"), "{context}: {told}");
        let call = last_model_call(&upstream);
        assert!(!offered_tools(&call).contains(&"look_inside"), "{context}");
    }
    let forced = json!({
        "message": "Look", "model": "test/any", "force_tools": ["look_inside"],
        "context": { "current_page": "desk", "active_tab": "top" },
    });
    let refused = parlor.post("/api/chat/stream", &forced).send().await.unwrap();
    assert_eq!(refused.status(), 422);
}

/// The data of an action.
fn opening_of(action: &Value) -> Value {
    serde_json::from_str(action["data"].as_str().unwrap_or_default()).unwrap_or_default()
}

#[tokio::test]
async fn opens_only_what_is_there() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let foreign = Uuid::now_v7().to_string();
    let huge = "x".repeat(900 << 10);
    let possible = json!({ "page": "desk", "drawer": 1, "url": "https://evil.example" });
    let cases = [
        (json!({ "page": "desk", "drawer": 2 }), "There is no drawer 2."),
        (
            json!({ "page": "desk", "drawer": "left" }),
            "the field `drawer` can't be read",
        ),
        (
            json!({ "page": "desk", "colour": "red" }),
            "The page desk has no field “colour”.",
        ),
        (
            json!({ "page": "desk" }),
            "name nothing that the page desk can open",
        ),
        (
            json!({ "page": "desk", "tab": "legs" }),
            "Its tabs are: top, drawers.",
        ),
        (json!({ "page": "shelf" }), "There is no page “shelf”."),
        (
            json!({ "page": "chat" }),
            "name nothing that the page chat can open",
        ),
        (
            json!({ "current_page": "desk", "drawer": 1 }),
            "its data name no page",
        ),
        (
            json!({ "page": "edit_stream", "stream_id": foreign }),
            "There is no such stream",
        ),
        (
            json!({ "page": "edit_stream", "draft": { "stream": { "name": "x" } } }),
            "name nothing",
        ),
        (
            json!({ "payload_id": "unknown1" }),
            "the conversation has no such payload",
        ),
        (json!("desk"), "its data are not an object"),
    ];
    let action = |action: &str, data: &Value| json!({ "label": "See", "action": action, "handler": "client", "data": data });
    for (data, reason) in cases {
        let written = json!([
            action("open", &data),
            action("fly", &json!({})),
            action("open", &possible)
        ]);
        upstream.add_script(
            When::user_contains("What is in it?"),
            Script::new().text(format!("Look.\nSUGGESTED_ACTIONS: {written}")),
        );
        let context = json!({ "current_page": "desk" });
        let events = parlor.chat(&question(context)).await.read_to_end().await;
        let suggested = events.iter().find(|event| event["type"] == "suggested_actions");
        let offered = suggested.expect("actions")["actions"].as_array().unwrap();
        let opened: Vec<Value> = offered.iter().map(opening_of).collect();
        // The others stay, and the model can't choose the URL.
        let expected = json!({ "page": "desk", "drawer": 1, "url": "/desk/drawers/1" });
        assert_eq!(opened, [expected], "{data}");
        assert_eq!(events.last().unwrap()["type"], "complete", "{data}");
        let run = events[0]["message_id"].as_str().unwrap();
        let path = format!("/api/messages/{run}/diagnostics");
        let (_, diagnostics) = parlor.get_json(&path).await;
        let left_out = diagnostics["calls"][0]["response"]["left_out"].to_string();
        for text in ["the action “fly”: the page has no such action", reason] {
            assert!(left_out.contains(text), "{text}: {left_out}");
        }
    }
    // A field of nearly 1 MB is no button at all.
    let written = json!([action("open", &json!({ "page": "desk", "drawer": huge }))]);
    upstream.add_script(
        When::user_contains("What is in it?"),
        Script::new().text(format!("Look.\nSUGGESTED_ACTIONS: {written}")),
    );
    let events = parlor.chat(&question(Value::Null)).await.read_to_end().await;
    let offers = |event: &Value| {
        event["actions"]
            .as_array()
            .is_some_and(|actions| !actions.is_empty())
    };
    assert!(!events.iter().any(offers));
}

#[tokio::test]
async fn earlier_actions_open_as_before() {
    // Stored before one action opened everything.
    let stored = json!({
        "label": "Open it", "action": "open_article", "handler": "client", "data": "{\"pmid\":\"12\"}",
    });
    let message = json!({
        "id": Uuid::now_v7(), "created_at": 1, "role": "assistant", "model": "test/any", "status": "complete",
        "nodes": [], "suggested_actions": [stored],
    });
    let message: parlor_protocol::Message = serde_json::from_value(message).unwrap();
    let action = &message.assistant().unwrap().suggested_actions[0];
    assert_eq!(
        (action.action.as_str(), action.data.as_deref()),
        ("open", Some(r#"{"url":"/literature/articles/12"}"#))
    );
}

#[tokio::test]
async fn rejects_invalid_items_of_the_page() {
    let (_folder, upstream, parlor) = start_parlor().await;
    for (context, status, text) in [
        (
            json!({ "current_page": "desk", "drawer": 2 }),
            422,
            "There is no drawer 2.",
        ),
        (
            json!({ "current_page": "desk", "drawer": "left" }),
            400,
            "the field `drawer` can't be read",
        ),
        (
            json!({ "current_page": "desk", "active_tab": "legs" }),
            422,
            "Its tabs are: top, drawers.",
        ),
        (
            json!({ "current_page": "shelf" }),
            422,
            "The pages are: chat, literature, streams, edit_stream, reports, data, schedules, desk.",
        ),
        (
            json!({ "current_page": "literature", "page": "two" }),
            400,
            "the field `page` can't be read",
        ),
    ] {
        let request = parlor.post("/api/chat/stream", &question(context.clone()));
        let refused = request.send().await.unwrap();
        assert_eq!(refused.status(), status, "{context}");
        let problem = read_json(refused).await;
        assert!(problem["detail"].as_str().unwrap().contains(text), "{problem}");
    }
    assert_eq!(raw_model_calls(&upstream), Vec::<Value>::new());
}

#[tokio::test]
async fn repeated_request_ignores_foreign_fields_and_order() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(When::any(), Script::new().text("Done."));
    let key = Uuid::now_v7().to_string();
    let send = |body: String| {
        let request = parlor.post("/api/chat/stream", &Value::Null).body(body);
        request.header("idempotency-key", &key).send()
    };
    let body =
        |context: &str| format!(r#"{{ "message": "Why?", "model": "test/any", "context": {context} }}"#);
    for (context, status) in [
        (
            r#"{"current_page": "literature", "query": "a", "page": 2, "results": ["1", "2"]}"#,
            200,
        ),
        (
            r#"{"results":["1","2"],"page":2,"colour":"red","query":"a","current_page":"literature"}"#,
            200,
        ),
        (
            r#"{"current_page": "literature", "query": "b", "page": 2, "results": ["1", "2"]}"#,
            409,
        ),
    ] {
        assert_eq!(send(body(context)).await.unwrap().status(), status, "{context}");
    }
}

#[tokio::test]
async fn page_data_are_loaded_by_url() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let (status, data) = parlor
        .get_json("/rpc/open_page?address=/desk/drawers%3Fq=1")
        .await;
    assert_eq!((status, data), (200, json!({ "opened": "/desk/drawers?q=1" })));
    let (status, error) = parlor.get_json("/rpc/open_page?address=/deskx").await;
    assert_eq!((status, &error["code"]), (404, &json!("not_found")));
}
