//! The tour: a script that is played like a model's answer on the first run, when there is no model yet.
//!
//! It says openly that it is a script. The scripts are Markdown files with their thinking in `<think>` tags.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::ThinkFilter;
use parlor_model::{
    Endpoint, FinishReason, ListedModels, ModelError, ModelErrorKind, ModelEvent, ModelMessage, ModelRequest,
    ModelStream, RequestPreview,
};
use parlor_protocol::{ModelCapabilities, RunError, model_list::ModelInfo, tool_kind};

/// The endpoint's name, which is reserved in the settings.
pub const ENDPOINT: &str = "parlor";
/// The tour's id in stored conversations.
pub const MODEL_ID: &str = "parlor/tour";
pub const MODEL: &str = "tour";

/// Sixty tokens a second: the speed of a good hosted model.
const TOKEN_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// The longest token in characters, similar to a model's tokens.
const MAX_TOKEN_CHARS: usize = 6;

/// Keywords in a message, and their scripts.
const SCRIPTS: [(&[&str], &str); 5] = [
    (&["chart", "diagram"], include_str!("chart.md")),
    (&["tool", "calculat"], include_str!("tool.md")),
    (&["markdown", "format", "table"], include_str!("markdown.md")),
    (
        &[
            "connect",
            "ollama",
            "llama",
            "studio",
            "openai",
            "api key",
            "real model",
            "endpoint",
        ],
        include_str!("connect.md"),
    ),
    (&["long", "story"], include_str!("long.md")),
];
const WELCOME: &str = include_str!("welcome.md");
const REPEATED: &str = include_str!("again.md");

/// The tool that a script uses, what it asks for, and the script after the result.
const TOOL: &str = tool_kind::CALCULATE.name;
const TOOL_INPUT: &str = r#"{"expression":"2^64 / 10^9 / 3600 / 24 / 365.25"}"#;
const TOOL_SCRIPT: &str = include_str!("tool.md");
const AFTER_TOOL: &str = include_str!("tool_result.md");
/// The beginning of the tool's result, and the script if it has another one: the person has said no.
const TOOL_RESULT: &str = "584.";
const AFTER_DENIED_TOOL: &str = include_str!("tool_denied.md");

/// The endpoint whose only model is the tour.
#[derive(Debug)]
pub struct Tour;

/// Returns the tour's entry in the picker.
pub fn model_info() -> ModelInfo {
    ModelInfo {
        id: MODEL_ID.into(),
        name: "Tour (a script, not a model)".into(),
        endpoint: ENDPOINT.into(),
        capabilities: ModelCapabilities::default(),
    }
}

#[async_trait::async_trait]
impl Endpoint for Tour {
    fn name(&self) -> &str {
        ENDPOINT
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        Ok(ListedModels {
            selectable: vec![model_info()],
            ids: vec![MODEL.to_owned()],
        })
    }

    fn preview_request(&self, _: &str, request: &ModelRequest) -> RequestPreview {
        let user = request.messages.iter().rev().find_map(|message| match message {
            ModelMessage::User(text) => Some(text.as_str()),
            _ => None,
        });
        // The only field that it reads.
        let messages = user.map(|text| ModelMessage::User(text.to_owned()).to_json());
        RequestPreview {
            messages: messages.into_iter().collect(),
            ..RequestPreview::default()
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        if model != MODEL {
            let error = RunError {
                code: "model_unknown".into(),
                message: format!("Parlor itself has no model “{model}”, only the tour."),
                hint: "Choose another model in the picker at the composer.".into(),
            };
            return Err(ModelError {
                error,
                kind: ModelErrorKind::Refused,
                reply: None,
            });
        }
        let script = script_for(&request.messages);
        let has_tool = request.tools.iter().any(|tool| tool.name == TOOL);
        Ok(play_script(script, script == TOOL_SCRIPT && has_tool))
    }
}

/// Returns the script for a conversation.
fn script_for(messages: &[ModelMessage]) -> &'static str {
    if let Some(ModelMessage::Tool { output, .. }) = messages.last() {
        return match output.contains(TOOL_RESULT) {
            true => AFTER_TOOL,
            false => AFTER_DENIED_TOOL,
        };
    }
    let question = messages.iter().rev().find_map(|message| match message {
        ModelMessage::User(text) => Some(text.to_lowercase()),
        _ => None,
    });
    let question = question.unwrap_or_default();
    let matched = SCRIPTS
        .iter()
        .find(|(words, _)| words.iter().any(|word| question.contains(word)));
    let has_answered = messages
        .iter()
        .any(|message| matches!(message, ModelMessage::Assistant { .. }));
    match matched {
        Some((_, script)) => script,
        None if has_answered => REPEATED,
        None => WELCOME,
    }
}

/// Plays a script at the pace of a model, token by token.
fn play_script(script: &'static str, calls_tool: bool) -> ModelStream {
    let start = Instant::now();
    let tokens = script_events(script, calls_tool).into_iter().enumerate();
    Box::pin(futures::stream::unfold(tokens, move |mut tokens| async move {
        let (index, event) = tokens.next()?;
        // Counted from the start, so that late wake-ups do not add up.
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        tokio::time::sleep_until(start + TOKEN_INTERVAL.saturating_mul(index)).await;
        Some((Ok(event), tokens))
    }))
}

fn script_events(script: &str, calls_tool: bool) -> VecDeque<ModelEvent> {
    let mut events = VecDeque::new();
    let mut filter = ThinkFilter::default();
    for token in split_tokens(script.trim_end()) {
        filter.push(token, &mut events);
    }
    filter.finish(&mut events);
    if calls_tool {
        events.push_back(ModelEvent::ToolCall {
            index: 0,
            id: "tour_call".into(),
            name: TOOL.into(),
        });
        events.push_back(ModelEvent::ToolArguments {
            index: 0,
            delta: TOOL_INPUT.into(),
        });
    }
    events.push_back(ModelEvent::Finished(if calls_tool {
        FinishReason::ToolCalls
    } else {
        FinishReason::Stop
    }));
    events
}

/// Splits a text into deltas like a model's tokens: a word with the space before it, a long word in several
/// deltas.
fn split_tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut in_word = false;
        let mut length = 0;
        let end = rest.char_indices().find_map(|(at, c)| {
            let ends = in_word && (c.is_whitespace() || length == MAX_TOKEN_CHARS);
            in_word |= !c.is_whitespace();
            length += usize::from(in_word);
            ends.then_some(at)
        });
        let (token, tail) = rest.split_at(end.unwrap_or(rest.len()));
        rest = tail;
        (!token.is_empty()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    fn ask(messages: &[ModelMessage]) -> (String, String) {
        let (mut thinking, mut text) = (String::new(), String::new());
        for event in script_events(script_for(messages), false) {
            match event {
                ModelEvent::Thinking(delta) => thinking += &delta,
                ModelEvent::Text(delta) => text += &delta,
                ModelEvent::Finished(FinishReason::Stop) => {}
                other => panic!("{other:?}"),
            }
        }
        (thinking, text)
    }

    #[test]
    fn scripts_think_first_and_introduce_themselves() {
        let (thinking, text) = ask(&[ModelMessage::User("Hello".into())]);
        assert!(text.contains("script"), "{text}");
        assert!(!thinking.is_empty());
        for word in ["markdown", "connect", "long", "chart"] {
            let (thinking, text) = ask(&[ModelMessage::User(format!("Please: {word}"))]);
            assert!(!thinking.is_empty() && !text.contains("think>"), "{word}");
        }
        let again = [ModelMessage::assistant("Hi"), ModelMessage::User("And?".into())];
        assert_ne!(ask(&again), ask(&again[1..]));
    }

    #[test]
    fn tool_script_tells_the_tools_result() {
        let asked = ModelMessage::User("Show me a tool".into());
        let events = script_events(script_for(std::slice::from_ref(&asked)), true);
        assert_eq!(
            events.back(),
            Some(&ModelEvent::Finished(FinishReason::ToolCalls))
        );
        assert!(serde_json::from_str::<serde_json::Value>(TOOL_INPUT).is_ok());
        let result = ModelMessage::Tool {
            tool_use_id: "tour_call".into(),
            output: "584.5".into(),
        };
        assert_eq!(script_for(&[asked.clone(), result]), AFTER_TOOL);
        let denied = ModelMessage::Tool {
            tool_use_id: "tour_call".into(),
            output: "The person did not allow this call.".into(),
        };
        assert_eq!(script_for(&[asked, denied]), AFTER_DENIED_TOOL);
    }

    #[test]
    fn tokens_join_to_the_text() {
        let text = "# One\n\n- two  three\n  unbelievable é🦀🦀🦀🦀🦀🦀🦀\n";
        assert_eq!(split_tokens(text).collect::<String>(), text);
        assert!(split_tokens(text).all(|token| token.trim().chars().count() <= MAX_TOKEN_CHARS));
        assert_eq!(split_tokens("a bc").collect::<Vec<_>>(), ["a", " bc"]);
    }

    #[tokio::test(start_paused = true)]
    async fn plays_sixty_tokens_a_second() {
        let start = Instant::now();
        let events: Vec<_> = play_script(REPEATED, false).collect().await;
        assert_eq!(events.last(), Some(&Ok(ModelEvent::Finished(FinishReason::Stop))));
        let expected = (events.len() - 1) as f64 / 60.0;
        assert!(
            (start.elapsed().as_secs_f64() - expected).abs() < 0.01,
            "{:?}",
            start.elapsed()
        );
    }
}
