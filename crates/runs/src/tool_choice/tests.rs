use serde_json::json;

use super::*;
use parlor_model::ToolSpec;
use parlor_protocol::{Node, Part, ToolCall, ToolStatus};
use parlor_tools::{AnyTool, any_tool_with, current_time::CurrentTime};

fn tool(name: &str) -> Arc<dyn AnyTool> {
    any_tool_with(CurrentTime, |spec| {
        *spec = ToolSpec {
            name: name.into(),
            description: String::new(),
            input_schema: json!({}),
        }
    })
}

/// Returns an offer of tools with these names.
fn offer(names: &[&str]) -> ToolOffer {
    let mut offer = ToolOffer::default();
    names.iter().rev().for_each(|name| offer.add(tool(name)));
    offer
}

/// Returns an answer with ended calls of these tools, with their outputs.
fn answer(calls: &[(&str, &str)]) -> AssistantMessage {
    let call = |(tool, output): &(&str, &str)| {
        Part::ToolCall(Box::new(ToolCall {
            output: Some((*output).into()),
            ..ToolCall::for_test(tool, ToolStatus::Complete)
        }))
    };
    AssistantMessage {
        nodes: vec![Node {
            parts: calls.iter().map(call).collect(),
        }],
        ..AssistantMessage::new("x/m")
    }
}

/// Returns the names of the tools that are offered at most `max` at once.
fn chosen(
    all: &[&str],
    max: usize,
    named: &[&str],
    refused: &[&str],
    answer: &AssistantMessage,
) -> Vec<String> {
    let refused: Vec<String> = refused.iter().map(|name| (*name).into()).collect();
    let named = named.iter().map(|name| (*name).to_owned());
    let mut offer = offer(all);
    let choice = ToolChoice::new(&mut offer, max, &refused, named, &[], answer);
    let tools = choice.choose(&offer, &refused, max, answer);
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[test]
fn offers_all_tools_within_the_limit() {
    let all = ["a", "b", "c"];
    assert_eq!(chosen(&all, 3, &[], &[], &answer(&[])), all);
    // A refused one takes no place.
    assert_eq!(chosen(&all, 2, &[], &["b"], &answer(&[])), ["a", "c"]);
}

#[test]
fn prefers_named_then_used_then_first_tools() {
    let all = ["a", "b", "c", "d", "e"];
    assert_eq!(chosen(&all, 3, &[], &[], &answer(&[])), ["find_tool", "a", "b"]);
    assert_eq!(
        chosen(&all, 3, &["e"], &[], &answer(&[])),
        ["find_tool", "a", "e"]
    );
    let used = answer(&[("d", ""), ("c", "")]);
    assert_eq!(chosen(&all, 3, &["e"], &[], &used), ["find_tool", "c", "e"]);
    assert_eq!(chosen(&all, 4, &["e"], &["c"], &used), ["a", "b", "d", "e"]);
    assert_eq!(chosen(&all, 1, &[], &[], &used), ["find_tool"]);
}

#[test]
fn offers_what_an_earlier_search_found() {
    let found = answer(&[(
        "find_tool",
        "These tools can be called from now on:\n- d: Does it.\n- e: It: too.",
    )]);
    let all = ["a", "b", "c", "d", "e"];
    assert_eq!(chosen(&all, 3, &[], &[], &found), ["find_tool", "d", "e"]);
    // Only the search itself can find tools.
    let other = answer(&[("a", "- d: Does it.")]);
    assert_eq!(chosen(&all, 3, &[], &[], &other), ["find_tool", "a", "b"]);
}

#[tokio::test]
async fn offers_what_the_search_finds_next() {
    let mut offer = offer(&["a", "b", "c", "d"]);
    let choice = ToolChoice::new(&mut offer, 2, &[], [], &[], &answer(&[]));
    choice.found.lock().push("c".into());
    let tools = choice.choose(&offer, &[], 2, &answer(&[]));
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["find_tool", "c"]);
}
