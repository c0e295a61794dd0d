//! What a model is sent, whole: golden files in `tests/server/golden`, for a small and for a large window.
//!
//! After a wanted change, `UPDATE_GOLDEN=1 make test-rust ARGS="--test server prompts"` writes them anew; read the difference before
//! you commit it.

use std::{fmt::Write, path::PathBuf};

use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::{
    literature,
    support::{Parlor, calls_as_sent, id, last_call, prompt},
};

const SMALL: usize = 4096;
const LARGE: usize = 128_000;

/// A Parlor with the tools that come with it, at a model with such a window that is able to use them.
async fn parlor(window: usize) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    literature::place(&upstream);
    upstream.script(When::any(), Script::new().text("Fine."));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        literature::asking(&upstream)(settings);
        settings.endpoints[0].context_window = Some(window);
    })
    .await;
    (folder, upstream, parlor)
}

/// A call of the model as text: what it is told, in the order in which it is, then its tools.
fn rendered(call: &Value) -> String {
    let mut text = String::new();
    for message in call["messages"].as_array().expect("messages") {
        let role = message["role"].as_str().expect("a role");
        let content = message["content"].as_str().unwrap_or_default();
        writeln!(text, "=== {role}\n{}", timeless(content)).unwrap();
        for asked in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &asked["function"];
            writeln!(
                text,
                "--- calls {} with {}",
                function["name"], function["arguments"]
            )
            .unwrap();
        }
    }
    for tool in call["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        let name = function["name"].as_str().expect("a name");
        let description = function["description"].as_str().expect("a description");
        writeln!(text, "=== tool {name}\n{description}\n{}", function["parameters"]).unwrap();
    }
    text
}

/// A text without the day and the times at which it was made.
fn timeless(text: &str) -> String {
    let text = replaced(text, "Today is ", " (UTC)", "Someday");
    replaced(&text, "{\"timestamp\":\"", "\",", "some time")
}

/// A text with something else between these, wherever they are.
fn replaced(text: &str, before: &str, after: &str, between: &str) -> String {
    let mut parts = text.split(before);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find(after).map_or(part, |end| &part[end..]);
        whole.extend([before, between, rest]);
    }
    whole
}

/// Compares a call with its golden file.
fn assert_golden(name: &str, window: usize, call: &Value) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/server/golden"]
        .iter()
        .collect();
    let path = path.join(format!("{name}-{window}.txt"));
    let sent = rendered(call);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        std::fs::write(&path, sent).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        sent == golden,
        "{} differs from what is sent now (UPDATE_GOLDEN=1 writes it anew):\n{sent}",
        path.display()
    );
}

#[tokio::test]
async fn a_greeting_is_sent_as_the_golden_files_have_it() {
    for window in [SMALL, LARGE] {
        let (_folder, upstream, parlor) = parlor(window).await;
        parlor.turn(None, "hi").await;
        assert_golden("chat", window, &last_call(&upstream));
    }
}

#[tokio::test]
async fn an_open_article_is_sent_as_the_golden_files_have_it() {
    for window in [SMALL, LARGE] {
        let (_folder, upstream, parlor) = parlor(window).await;
        let context = json!({
            "current_page": "literature", "active_tab": "search", "query": "tides", "results": ["11"], "article_id": "11",
        });
        parlor.chat(&literature::question(context)).await.rest().await;
        assert_golden("literature", window, &last_call(&upstream));
    }
}

#[tokio::test]
async fn a_turn_after_a_tool_is_sent_as_the_golden_files_have_it() {
    for window in [SMALL, LARGE] {
        let (_folder, upstream, parlor) = parlor(window).await;
        let calculate = Script::new().tool_call("1", "calculate", r#"{"expression":"6*7"}"#);
        upstream.script_times(
            1,
            When::user_contains("6 times 7"),
            calculate.finish("tool_calls"),
        );
        let first = parlor.turn(None, "What is 6 times 7?").await;
        let conversation = id(&first[0], "conversation_id");
        assert_golden("tool-turn", window, &last_call(&upstream));
        parlor.turn(Some(&conversation), "Thanks").await;
        assert_golden("after-tool-turn", window, &last_call(&upstream));
    }
}

/// What llama.cpp says of a model whose template has a place for tools, or none.
fn props(takes_tools: bool) -> Page {
    Page::json(&json!({
        "default_generation_settings": { "n_ctx": 128_000 },
        "chat_template": "{{ messages }}",
        "chat_template_caps": { "supports_tools": takes_tools, "supports_tool_calls": takes_tools },
    }))
}

#[tokio::test]
async fn a_model_whose_template_has_no_tools_is_told_of_none() {
    for takes_tools in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.page("/props", props(takes_tools));
        upstream.script(When::any(), Script::new().text("Fine."));
        let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
        parlor.turn(None, "hi").await;
        let call = last_call(&upstream);
        assert_eq!(call["tools"].is_array(), takes_tools, "{call}");
        // Nor is it asked for sources, which nothing can find.
        assert_eq!(prompt(&upstream).contains("METADATA"), takes_tools);
        assert!(prompt(&upstream).contains("SUGGESTED_VALUES"));
    }
}

#[tokio::test]
async fn the_settings_say_more_than_the_template() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.page("/props", props(false));
    upstream.script(When::any(), Script::new().text("Fine."));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        settings.endpoints[0].tools = Some(true);
        settings.endpoints[0].prompt = parlor::settings::PromptLength::Short;
    })
    .await;
    parlor.turn(None, "hi").await;
    assert!(last_call(&upstream)["tools"].is_array());
    assert!(
        !prompt(&upstream).contains("SUGGESTED_VALUES"),
        "{}",
        prompt(&upstream)
    );
}

#[tokio::test]
async fn a_tool_turn_of_before_is_told_in_words_where_tools_are_not() {
    let (_folder, upstream, parlor) = parlor(LARGE).await;
    let calculate = Script::new().tool_call("1", "calculate", r#"{"expression":"6*7"}"#);
    upstream.script_times(1, When::any(), calculate.finish("tool_calls"));
    let first = parlor.turn(None, "What is 6 times 7?").await;
    assert_eq!(calls_as_sent(&upstream).len(), 2);
    upstream.page("/props", props(false));
    let next = json!({
        "message": "Sure?", "conversation_id": first[0]["conversation_id"], "model": "test/another",
    });
    parlor.chat(&next).await.rest().await;
    let call = last_call(&upstream);
    assert_eq!(call["tools"], Value::Null);
    assert!(!call.to_string().contains("\"tool_calls\""), "{call}");
    assert!(call.to_string().contains("(I used the tool calculate"), "{call}");
}
