//! Whole model requests as golden files in `tests/server/golden`, for a small and for a large window.
//!
//! After an intended change, `UPDATE_GOLDEN=1 make test-rust ARGS="--test server prompts"` rewrites them.
//! Read the difference before you commit it.

use std::{fmt::Write, path::PathBuf};

use parlor_base::settings::EndpointKind;
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::{
    literature,
    support::{Parlor, last_model_call, last_system_prompt, raw_model_calls, set_kind, string_field},
};

const SMALL_WINDOW: usize = 4096;
const LARGE_WINDOW: usize = 128_000;

/// Starts a Parlor with the built-in tools, and a model with this window that supports tools.
async fn start_parlor(window: usize) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    literature::add_pubmed_pages(&upstream);
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        literature::pubmed_settings(&upstream)(settings);
        settings.endpoints[0].context_window = Some(window);
    })
    .await;
    (folder, upstream, parlor)
}

/// Renders a model call as text: the messages in order, then the tools.
fn render_call(call: &Value) -> String {
    let mut text = String::new();
    for message in call["messages"].as_array().expect("messages") {
        let role = message["role"].as_str().expect("a role");
        let content = message["content"].as_str().unwrap_or_default();
        writeln!(text, "=== {role}\n{}", mask_times(content)).unwrap();
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

/// Masks the date and the times in a text.
fn mask_times(text: &str) -> String {
    let text = replace_between(text, "Today is ", " (UTC)", "Someday");
    replace_between(&text, "{\"timestamp\":\"", "\",", "some time")
}

/// Replaces every text between these two.
fn replace_between(text: &str, before: &str, after: &str, between: &str) -> String {
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
    let sent = render_call(call);
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
async fn greeting_matches_golden_files() {
    for window in [SMALL_WINDOW, LARGE_WINDOW] {
        let (_folder, upstream, parlor) = start_parlor(window).await;
        parlor.turn(None, "hi").await;
        assert_golden("chat", window, &last_model_call(&upstream));
    }
}

#[tokio::test]
async fn open_article_matches_golden_files() {
    for window in [SMALL_WINDOW, LARGE_WINDOW] {
        let (_folder, upstream, parlor) = start_parlor(window).await;
        let context = json!({
            "current_page": "literature", "active_tab": "search", "query": "tides", "results": ["11"], "article_id": "11",
        });
        parlor
            .chat(&literature::question_on_page(context))
            .await
            .read_to_end()
            .await;
        assert_golden("literature", window, &last_model_call(&upstream));
    }
}

#[tokio::test]
async fn tool_turn_matches_golden_files() {
    for window in [SMALL_WINDOW, LARGE_WINDOW] {
        let (_folder, upstream, parlor) = start_parlor(window).await;
        let calculate = Script::new().tool_call("1", "calculate", r#"{"expression":"6*7"}"#);
        upstream.add_script_times(
            1,
            When::user_contains("6 times 7"),
            calculate.finish("tool_calls"),
        );
        let first = parlor.turn(None, "What is 6 times 7?").await;
        let conversation = string_field(&first[0], "conversation_id");
        assert_golden("tool-turn", window, &last_model_call(&upstream));
        parlor.turn(Some(&conversation), "Thanks").await;
        assert_golden("after-tool-turn", window, &last_model_call(&upstream));
    }
}

/// Returns llama.cpp's properties of a model whose template supports tools, or does not.
fn llama_cpp_props(takes_tools: bool) -> Page {
    Page::json(&json!({
        "default_generation_settings": { "n_ctx": 128_000 },
        "chat_template": "{{ messages }}",
        "chat_template_caps": { "supports_tools": takes_tools, "supports_tool_calls": takes_tools },
    }))
}

#[tokio::test]
async fn template_without_tools_disables_tools() {
    for (kind, takes_tools) in EndpointKind::ALL
        .into_iter()
        .flat_map(|kind| [(kind, true), (kind, false)])
    {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_page("/props", llama_cpp_props(takes_tools));
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
            set_kind(&mut settings.endpoints[0], kind, &upstream);
        })
        .await;
        parlor.turn(None, "hi").await;
        let call = last_model_call(&upstream);
        assert_eq!(call["tools"].is_array(), takes_tools, "{kind:?} {call}");
        // Without tools that find sources, none are requested.
        assert_eq!(call.to_string().contains("METADATA"), takes_tools, "{kind:?}");
        assert!(call.to_string().contains("SUGGESTED_VALUES"), "{kind:?}");
    }
}

#[tokio::test]
async fn settings_override_the_template() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_page("/props", llama_cpp_props(false));
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        settings.endpoints[0].tools = Some(true);
        settings.endpoints[0].prompt = parlor_base::settings::PromptLength::Short;
    })
    .await;
    parlor.turn(None, "hi").await;
    assert!(last_model_call(&upstream)["tools"].is_array());
    assert!(
        !last_system_prompt(&upstream).contains("SUGGESTED_VALUES"),
        "{}",
        last_system_prompt(&upstream)
    );
}

#[tokio::test]
async fn earlier_tool_turn_is_described_without_tools() {
    let (_folder, upstream, parlor) = start_parlor(LARGE_WINDOW).await;
    let calculate = Script::new().tool_call("1", "calculate", r#"{"expression":"6*7"}"#);
    upstream.add_script_times(1, When::any(), calculate.finish("tool_calls"));
    let first = parlor.turn(None, "What is 6 times 7?").await;
    assert_eq!(raw_model_calls(&upstream).len(), 2);
    upstream.add_page("/props", llama_cpp_props(false));
    let next = json!({
        "message": "Sure?", "conversation_id": first[0]["conversation_id"], "model": "test/another",
    });
    parlor.chat(&next).await.read_to_end().await;
    let call = last_model_call(&upstream);
    assert_eq!(call["tools"], Value::Null);
    assert!(!call.to_string().contains("\"tool_calls\""), "{call}");
    assert!(call.to_string().contains("(I used the tool calculate"), "{call}");
}
