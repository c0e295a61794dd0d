//! Diagnostics as the page shows them: every number in words, every text ready to be drawn.

use serde_json::Value;

use super::{
    Diagnostics,
    record::{Purpose, TimelineEntry, Tokens},
    report::Call,
};
use crate::protocol::{
    Json, Timestamp,
    diagnostics::{Block, DiagnosticsView, Fact, Section},
};

impl Diagnostics {
    /// What the page shows.
    pub fn view(&self) -> DiagnosticsView {
        DiagnosticsView {
            at_work: !self.status.is_terminal(),
            summary: summary(self),
            sections: sections(self),
            json: serde_json::to_string_pretty(self).unwrap_or_default(),
        }
    }
}

fn summary(of: &Diagnostics) -> Vec<Fact> {
    let mut facts = vec![fact("Model", of.model.clone())];
    let mut known = |name: &str, value: Option<String>| facts.extend(value.map(|value| fact(name, value)));
    known(
        "Address",
        Some(of.address.clone()).filter(|address| !address.is_empty()),
    );
    known("State", Some(of.status.as_str().into()));
    known("Tokens", of.usage.map(tokens));
    known("Cost", of.cost.map(dollars));
    known("First token", of.first_token_ms.map(seconds));
    known("Duration", of.duration_ms.map(seconds));
    known("Calls of the model", Some(calls(of)));
    known(
        "Parameters",
        Some(parameters(of)).filter(|parameters| !parameters.is_empty()),
    );
    facts
}

fn fact(name: &str, value: String) -> Fact {
    let name = name.into();
    Fact { name, value }
}

fn tokens(usage: Tokens) -> String {
    format!("{} in, {} out", usage.input_tokens, usage.output_tokens)
}

fn dollars(dollars: f64) -> String {
    // Cents say nothing about what a single answer costs.
    format!(
        "${}",
        format!("{dollars:.6}")
            .trim_end_matches('0')
            .trim_end_matches('.')
    )
}

fn seconds(milliseconds: u64) -> String {
    format!("{:.2} s", milliseconds as f64 / 1000.0)
}

fn calls(of: &Diagnostics) -> String {
    let calls = of.calls.len();
    match of.retries {
        0 => format!("{calls} (at most {} may ask for tools)", of.max_iterations),
        1 => format!("{calls}, 1 retry"),
        retries => format!("{calls}, {retries} retries"),
    }
}

fn parameters(of: &Diagnostics) -> String {
    let parameters = of
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    parameters.collect::<Vec<_>>().join(", ")
}

fn sections(of: &Diagnostics) -> Vec<Section> {
    vec![
        Section {
            title: "System prompt".into(),
            count: counted(of.system_prompt.chars().count(), "character"),
            lines: false,
            blocks: vec![block("", of.system_prompt.clone())],
        },
        Section {
            title: "Messages".into(),
            count: counted(of.messages.len(), "message"),
            lines: false,
            blocks: of.messages.iter().map(message).collect(),
        },
        context(of),
        Section {
            title: "Tools".into(),
            count: counted(of.tools.len(), "tool"),
            lines: false,
            blocks: of.tools.iter().zip(&of.tool_definitions).map(tool).collect(),
        },
        Section {
            title: "Raw response".into(),
            count: counted(of.calls.len(), "call"),
            lines: false,
            blocks: of.calls.iter().enumerate().flat_map(response).collect(),
        },
        Section {
            title: "Timeline".into(),
            count: counted(of.timeline.len(), "entry"),
            lines: true,
            blocks: timeline(&of.timeline),
        },
    ]
}

/// What was open on the page: as the request named it, and as the model was told of it.
fn context(of: &Diagnostics) -> Section {
    let page = |context: &Value| context["current_page"].as_str().unwrap_or_default().to_owned();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(
        of.context
            .as_ref()
            .map(|context| block("what was open", pretty(context))),
    );
    let told = of.context_text.as_ref().filter(|text| !text.is_empty());
    blocks.extend(told.map(|text| block("what the model was told", text)));
    Section {
        title: "Context".into(),
        count: of.context.as_ref().map_or("nothing was open".into(), page),
        lines: false,
        blocks,
    }
}

fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {what}s"),
    }
}

fn block(label: impl Into<String>, text: impl Into<String>) -> Block {
    Block {
        label: label.into(),
        text: text.into(),
    }
}

fn message(message: &Value) -> Block {
    if let Some(omitted) = message["omitted"].as_u64() {
        return block("not kept", format!("{omitted} older messages"));
    }
    let mut text = message["content"].as_str().map(str::to_owned).unwrap_or_else(|| {
        let content = &message["content"];
        if content.is_null() {
            String::new()
        } else {
            pretty(content)
        }
    });
    if let Some(calls) = message.get("tool_calls") {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&pretty(calls));
    }
    block(message["role"].as_str().unwrap_or_default(), text)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn tool((name, definition): (&String, &Json)) -> Block {
    block(name, crate::protocol::json::pretty(definition.as_str()))
}

fn response((index, call): (usize, &Call)) -> Vec<Block> {
    let raw = &call.response;
    let mut facts: Vec<String> = vec![call.status.as_str().into()];
    facts.extend(
        call.finish_reason
            .as_ref()
            .map(|reason| format!("finish_reason: {reason}")),
    );
    facts.extend(call.usage.map(|usage| format!("tokens: {}", tokens(usage))));
    facts.extend(
        call.first_token_ms
            .map(|ms| format!("first token: {}", seconds(ms))),
    );
    facts.extend(call.duration_ms.map(|ms| format!("duration: {}", seconds(ms))));
    if raw.cut {
        facts.push("there was more than is kept (setting limits.diagnostics_bytes)".into());
    }
    let name = match call.purpose {
        Purpose::Answer => format!("Call {}", index + 1),
        Purpose::Summary => format!("Call {}, which summarises the beginning", index + 1),
    };
    let mut blocks = vec![block(&name, facts.join(" · "))];
    blocks.extend(
        call.failures
            .iter()
            .map(|failure| block("failed", &failure.error.message)),
    );
    for (label, text) in [("thinking", &raw.thinking), ("text", &raw.text)] {
        if !text.is_empty() {
            blocks.push(block(label, text));
        }
    }
    let asked = raw.tool_calls.iter();
    blocks.extend(asked.map(|asked| block(format!("asks for {}", asked.name), &asked.arguments)));
    let unread = raw.unread.iter();
    blocks.extend(unread.map(|piece| block(format!("not read: {}", piece.what), &piece.raw)));
    blocks
}

fn timeline(entries: &[TimelineEntry]) -> Vec<Block> {
    let began = entries.first().map_or(Timestamp(0), |entry| entry.at);
    let line = |entry: &TimelineEntry| {
        let after = |at: Timestamp| seconds(u64::try_from(at.0 - began.0).unwrap_or_default());
        let mut text = entry.kind.clone();
        if let Some(detail) = &entry.detail {
            text.push_str(&format!(": {detail}"));
        }
        if entry.count > 1 {
            text.push_str(&format!(" ({}, until {})", entry.count, after(entry.until)));
        }
        block(format!("+{}", after(entry.at)), text)
    };
    entries.iter().map(line).collect()
}
