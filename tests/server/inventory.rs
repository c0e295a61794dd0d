//! The page of `examples/page`, added to a server as its own program does.

use parlor::server::{Server, built_in_pages};
use parlor_inventory::{PAGE, server::Inventory};
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, last_system_prompt, settings, string_field};

/// The page with an item on the screen.
fn context() -> Value {
    json!({ "current_page": "inventory", "draft": { "item": { "name": "Lamp", "place": "" } } })
}

async fn start() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let settings = settings(folder.path(), &upstream, |_| {});
    let server = Server::open_with(
        settings,
        |_| ToolRegistry::default(),
        |parts| built_in_pages(parts).with_page(Inventory),
    );
    let parlor = Parlor::serve(server.await.expect("a server")).await;
    (folder, upstream, parlor)
}

async fn ask(parlor: &Parlor) -> Vec<Value> {
    let request = json!({ "message": "Where is it?", "model": "test/any", "context": context() });
    parlor.chat(&request).await.read_to_end().await
}

#[tokio::test]
async fn added_page_has_context_and_tool() {
    let (_folder, upstream, parlor) = start().await;
    upstream.add_script(
        When::any(),
        Script::new()
            .tool_call("1", "find_item", "{}")
            .finish("tool_calls"),
    );
    upstream.add_script(When::tool_gave("shelf 2"), Script::new().text("In the attic."));
    let events = ask(&parlor).await;
    let found = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    assert_eq!(found["output"], "Lamp: Attic, shelf 2");
    let told = last_system_prompt(&upstream);
    for text in [
        "You help a person to keep the inventory",
        "name: Lamp",
        "ITEM_PROPOSAL:",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
}

#[tokio::test]
async fn added_page_has_a_draft() {
    let (_folder, upstream, parlor) = start().await;
    upstream.add_script(
        When::any(),
        Script::new().text(r#"ITEM_PROPOSAL: {"place": "Attic, shelf 2"}"#),
    );
    let events = ask(&parlor).await;
    let made = events
        .iter()
        .find(|event| event["type"] == "payload_made")
        .unwrap();
    let (conversation, id) = (
        string_field(&events[0], "conversation_id"),
        string_field(&made["payload"], "payload_id"),
    );
    let path = format!("/rpc/payload?conversation_id={conversation}&payload_id={id}");
    let view = parlor.get_json(&path).await.1;
    let proposal = &view["body"]["proposal"];
    assert_eq!(
        (&proposal["draft"], &view["is_proposal"]),
        (&json!("item"), &json!(true))
    );
    assert_eq!(proposal["fields"][0]["change"]["text"], "Attic, shelf 2");
    assert_eq!(proposal["fields"][0]["base"], "");
    // Its entry for the browser is the same page.
    assert_eq!(PAGE.info.path, "/inventory");
}
