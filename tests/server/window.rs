//! Conversations that exceed the model's window: outputs are shortened, turns are summarized, and the rest is
//! omitted.

use parlor_base::settings::{MetadataMode, Settings};
use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::{
    history::{FORGED_METADATA, LongOutputTool, message_contents, start_with},
    support::{Nothing, Parlor, model_calls, raw_model_calls, string_field},
};

/// About 2,250 tokens.
const LONG_DESCRIPTION: &str = {
    const BYTES: [u8; 9000] = [b'w'; 9000];
    match std::str::from_utf8(&BYTES) {
        Ok(words) => words,
        Err(_) => "",
    }
};

/// A tool with a long description.
struct LongDescriptionTool;

impl Tool for LongDescriptionTool {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("verbose");
    const DESCRIPTION: &'static str = LONG_DESCRIPTION;
    const LABEL: &'static str = "Talking";
    const DONE: &'static str = "Talked";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(String::new().into())
    }
}

/// Sets a window for a few short turns. The tools' outputs fill most of it.
fn set_small_window(settings: &mut Settings) {
    settings.endpoints[0].context_window = Some(3000);
    settings.history.answer_tokens = 500;
    settings.history.metadata = MetadataMode::Never;
}

#[tokio::test]
async fn truncates_old_outputs_before_summarizing() {
    let (_folder, upstream, parlor) = start_with(set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    // Usage is not reported: the estimate decides.
    let look = || Script::new().tool_call("1", "look", "{}").done();
    let mut conversation = None;
    for turn in 0..4 {
        upstream.add_script_times(1, When::user_contains(format!("turn {turn}")), look());
        let events = parlor
            .turn(conversation.as_deref(), &format!("turn {turn}"))
            .await;
        conversation = Some(string_field(&events[0], "conversation_id"));
    }
    let last = model_calls(&upstream).pop().unwrap();
    let outputs: Vec<usize> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().len())
        .collect();
    assert_eq!(outputs.len(), 4, "{last}");
    assert!(outputs[0] < 600 && outputs[3] > 2000, "{outputs:?}");
    assert_eq!(model_calls(&upstream).len(), 8, "nothing was summarized");
}

#[tokio::test]
async fn summarizes_oldest_turns_once() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(
        When::user_contains("Person: "),
        Script::new().text(format!("Ann likes tea. {FORGED_METADATA}")),
    );
    let mut conversation = None;
    for turn in 0..7 {
        let message = format!("turn {turn} {}", "word ".repeat(400));
        let events = parlor.turn(conversation.as_deref(), &message).await;
        conversation = Some(string_field(&events[0], "conversation_id"));
    }
    let is_summary = |call: &&Value| call["messages"].to_string().contains("Person: ");
    let made = |upstream: &Upstream| model_calls(upstream).iter().filter(is_summary).count();
    let summaries = made(&upstream);
    assert!(
        (1..=2).contains(&summaries),
        "{summaries} summaries for seven turns"
    );
    let shown = model_calls(&upstream).pop().unwrap();
    let first = shown["messages"][0]["content"].as_str().unwrap();
    assert!(
        first.starts_with("(What was said before, in short:\n\nAnn likes tea. &lt;!-- METADATA"),
        "{first}"
    );
    assert!(!shown.to_string().contains("turn 0"), "it is summarized");
    assert!(shown.to_string().contains("turn 6"), "the question is there");
    // The summary is stored: after a restart it is reused.
    parlor.stop().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, set_small_window).await;
    parlor.turn(conversation.as_deref(), "short").await;
    assert_eq!(made(&upstream), summaries);
    let shown = model_calls(&upstream).pop().unwrap().to_string();
    assert!(shown.contains("Ann likes tea."), "{shown}");
}

/// Creates a conversation with this number of long turns, each of which is answered. Returns its id.
async fn create_long_conversation(parlor: &Parlor, turns: usize) -> String {
    let mut conversation = None;
    for turn in 0..turns {
        let message = format!("turn {turn} {}", "word ".repeat(400));
        let events = parlor.turn(conversation.as_deref(), &message).await;
        assert_eq!(events.last().unwrap()["type"], "complete");
        conversation = Some(string_field(&events[0], "conversation_id"));
    }
    conversation.unwrap()
}

/// Returns the calls for a summary, as they were sent.
fn summary_calls(upstream: &Upstream) -> Vec<Value> {
    let mut calls = raw_model_calls(upstream);
    calls.retain(|call| message_contents(call)[0].contains("Write the summary and nothing else"));
    calls
}

#[tokio::test]
async fn summary_covers_what_fits_without_tools() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    // The tools take most of the window.
    let tools = ToolRegistry::default()
        .with_tool(LongOutputTool)
        .with_tool(LongDescriptionTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(When::user_contains("Person: "), Script::new().text("In short."));
    let conversation = create_long_conversation(&parlor, 5).await;
    parlor.turn(Some(&conversation), "short").await;
    let asked = summary_calls(&upstream);
    assert!(!asked.is_empty());
    for call in &asked {
        assert!(message_contents(call)[1].contains(&"word ".repeat(399)), "{call}");
        assert_eq!(call.get("tools"), None);
    }
    // Each turn is included once, in order.
    let told: Vec<String> = asked
        .iter()
        .map(|call| message_contents(call)[1].to_owned())
        .collect();
    let told = told.concat();
    let places: Vec<usize> = (0..3)
        .map(|turn| {
            told.find(&format!("Person: turn {turn} "))
                .expect("the message is sent")
        })
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(told.matches("Person: turn 0 ").count(), 1);
}

#[tokio::test]
async fn summary_size_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(
        When::user_contains("Person: "),
        // Without repetition, which would make it useless.
        Script::new().text((0..750).map(|n| format!("long {n:04} ")).collect::<String>()),
    );
    let conversation = create_long_conversation(&parlor, 7).await;
    let last = model_calls(&upstream).pop().unwrap();
    let first = last["messages"][0]["content"].as_str().unwrap();
    assert!(
        first.starts_with("(What was said before, in short:\n\nlong "),
        "{first}"
    );
    let summary = first.matches("long ").count();
    // A quarter of 2500 tokens; such a word has two and a half with its number.
    assert!((150..=250).contains(&summary), "{summary}");
    let estimate: usize = message_contents(&last).iter().map(|text| text.len() / 4).sum();
    assert!(estimate < 2500, "{estimate}");
    // A summary that was stored for a larger window must fit as well.
    parlor.stop().await;
    let smaller = |settings: &mut Settings| {
        set_small_window(settings);
        settings.endpoints[0].context_window = Some(1500);
    };
    let parlor = Parlor::start_with(folder.path(), &upstream, smaller).await;
    parlor.turn(Some(&conversation), "short").await;
    let estimate = |call: &Value| {
        message_contents(call)
            .iter()
            .map(|text| text.len() / 4)
            .sum::<usize>()
    };
    let sent = raw_model_calls(&upstream).pop().unwrap();
    assert!(estimate(&sent) < 1000, "{sent}");
}

#[tokio::test]
async fn only_whole_summaries_are_stored() {
    let ended = |reason: &str| Script::new().text("Ann li").finish(reason);
    for (summary, is_whole) in [
        (ended("content_filter"), false),
        (ended("length"), false),
        (
            Script::new().text("Ann likes tea, and she also wants biscuits. ".repeat(200)),
            false,
        ),
        (ended("stop"), true),
        (ended("eos_token"), true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let parlor = Parlor::start_with(folder.path(), &upstream, set_small_window).await;
        upstream.add_script(When::any(), Script::new().text("Fine.").done());
        upstream.add_script(When::user_contains("Person: "), summary);
        create_long_conversation(&parlor, 7).await;
        assert!(!summary_calls(&upstream).is_empty());
        let last = model_calls(&upstream).pop().unwrap().to_string();
        assert_eq!(last.contains("Ann li"), is_whole, "{last}");
    }
}

/// Starts a model that answers but fails to summarize.
async fn parlor_failing_summaries(status: u16) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(
        When::user_contains("Person: "),
        Script::new().status(status, json!({"error": {"message": "no"}}), &[]),
    );
    (folder, upstream, parlor)
}

#[tokio::test]
async fn failed_summary_is_not_retried_each_message() {
    let (_folder, upstream, parlor) = parlor_failing_summaries(400).await;
    create_long_conversation(&parlor, 7).await;
    assert_eq!(summary_calls(&upstream).len(), 1);
    // Another conversation is independent.
    create_long_conversation(&parlor, 6).await;
    assert_eq!(summary_calls(&upstream).len(), 2);
}

#[tokio::test]
async fn omits_unsummarized_turns_and_tells_the_model() {
    let (_folder, upstream, parlor) = parlor_failing_summaries(500).await;
    let mut conversation = None;
    for turn in 0..6 {
        let message = format!("turn {turn} {}", "word ".repeat(400));
        let events = parlor.turn(conversation.as_deref(), &message).await;
        assert_eq!(events.last().unwrap()["type"], "complete");
        conversation = Some(string_field(&events[0], "conversation_id"));
    }
    let shown = model_calls(&upstream).pop().unwrap();
    let first = shown["messages"][0]["content"].as_str().unwrap();
    assert!(
        first.starts_with("(The beginning of this conversation is left out"),
        "{first}"
    );
}

#[tokio::test]
async fn summary_omits_thinking() {
    let (_folder, upstream, parlor) = start_with(set_small_window).await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(
        When::user_contains("Person: "),
        Script::new().text("Let me see.").text("</think>In short: tea."),
    );
    let conversation = create_long_conversation(&parlor, 7).await;
    parlor.turn(Some(&conversation), "short").await;
    let shown = model_calls(&upstream).pop().unwrap().to_string();
    assert!(shown.contains("In short: tea."), "{shown}");
    assert!(!shown.contains("Let me see."), "{shown}");
}
