//! The page's view of the diagnostics: formatted numbers and texts that can be rendered as they are.

use serde_json::Value;

use super::{
    Diagnostics,
    record::{Purpose, TokenUsage},
    report::CallReport,
    timeline::TimelineEntry,
};
use parlor_protocol::{
    RawJson, Timestamp,
    diagnostics::{DiagnosticsBlock, DiagnosticsFact, DiagnosticsSection, DiagnosticsView},
    json::pretty_print,
};

impl Diagnostics {
    /// Returns the view for the page.
    pub fn view(&self) -> DiagnosticsView {
        DiagnosticsView {
            at_work: !self.status.is_terminal(),
            summary: summary_facts(self),
            sections: detail_sections(self),
            json: serde_json::to_string(self).map_or_else(|_| String::new(), |json| pretty_print(&json)),
        }
    }
}

fn summary_facts(diagnostics: &Diagnostics) -> Vec<DiagnosticsFact> {
    let mut facts = vec![fact("Model", diagnostics.model.clone())];
    let mut add_fact = |name: &str, value: Option<String>| facts.extend(value.map(|value| fact(name, value)));
    add_fact(
        "Address",
        Some(diagnostics.address.clone()).filter(|address| !address.is_empty()),
    );
    add_fact("State", Some(diagnostics.status.as_str().into()));
    add_fact("Tokens", diagnostics.usage.map(format_tokens));
    add_fact("Cost", diagnostics.cost.map(format_dollars));
    add_fact("First token", diagnostics.first_token_ms.map(format_seconds));
    add_fact("Duration", diagnostics.duration_ms.map(format_seconds));
    add_fact("Model calls", Some(format_calls(diagnostics)));
    add_fact(
        "Parameters",
        Some(format_parameters(diagnostics)).filter(|parameters| !parameters.is_empty()),
    );
    facts
}

fn fact(name: &str, value: String) -> DiagnosticsFact {
    let name = name.into();
    DiagnosticsFact { name, value }
}

fn format_tokens(usage: TokenUsage) -> String {
    let part = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(" ({count} {what})"),
    };
    format!(
        "{} in{}, {} out{}",
        usage.input_tokens,
        part(usage.cached_input_tokens, "cached"),
        usage.output_tokens,
        part(usage.thinking_tokens, "thinking"),
    )
}

fn format_dollars(dollars: f64) -> String {
    // A single answer often costs less than a cent.
    format!(
        "${}",
        format!("{dollars:.6}")
            .trim_end_matches('0')
            .trim_end_matches('.')
    )
}

fn format_seconds(milliseconds: u64) -> String {
    format!("{:.2} s", milliseconds as f64 / 1000.0)
}

fn format_calls(diagnostics: &Diagnostics) -> String {
    let calls = diagnostics.calls.len();
    match diagnostics.retries {
        0 => format!(
            "{calls} (at most {} may request tools)",
            diagnostics.max_iterations
        ),
        1 => format!("{calls}, 1 retry"),
        retries => format!("{calls}, {retries} retries"),
    }
}

fn format_parameters(diagnostics: &Diagnostics) -> String {
    let parameters = diagnostics
        .parameters
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    parameters.collect::<Vec<_>>().join(", ")
}

fn detail_sections(diagnostics: &Diagnostics) -> Vec<DiagnosticsSection> {
    vec![
        DiagnosticsSection {
            title: "System prompt".into(),
            count: pluralize(diagnostics.system_prompt.chars().count(), "character"),
            lines: false,
            blocks: vec![text_block("", diagnostics.system_prompt.clone())],
        },
        DiagnosticsSection {
            title: "Messages".into(),
            count: pluralize(diagnostics.messages.len(), "message"),
            lines: false,
            blocks: diagnostics.messages.iter().map(message_block).collect(),
        },
        context_section(diagnostics),
        DiagnosticsSection {
            title: "Tools".into(),
            count: pluralize(diagnostics.tools.len(), "tool"),
            lines: false,
            blocks: diagnostics
                .tools
                .iter()
                .zip(&diagnostics.tool_definitions)
                .map(tool_block)
                .collect(),
        },
        DiagnosticsSection {
            title: "Raw response".into(),
            count: pluralize(diagnostics.calls.len(), "call"),
            lines: false,
            blocks: diagnostics
                .calls
                .iter()
                .enumerate()
                .flat_map(response_blocks)
                .collect(),
        },
        DiagnosticsSection {
            title: "Timeline".into(),
            count: pluralize(diagnostics.timeline.len(), "entry"),
            lines: true,
            blocks: timeline_blocks(&diagnostics.timeline),
        },
    ]
}

/// Returns the section about the page context: the request's data, and their description for the model.
fn context_section(diagnostics: &Diagnostics) -> DiagnosticsSection {
    let page = |context: &Value| context["current_page"].as_str().unwrap_or_default().to_owned();
    let mut blocks: Vec<DiagnosticsBlock> = Vec::new();
    blocks.extend(
        diagnostics
            .context
            .as_ref()
            .map(|context| text_block("page context", pretty_print(&context.to_string()))),
    );
    let context_text = diagnostics.context_text.as_ref().filter(|text| !text.is_empty());
    blocks.extend(context_text.map(|text| text_block("text for the model", text)));
    DiagnosticsSection {
        title: "Context".into(),
        count: diagnostics
            .context
            .as_ref()
            .map_or("no page context".into(), page),
        lines: false,
        blocks,
    }
}

fn pluralize(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {what}s"),
    }
}

fn text_block(label: impl Into<String>, text: impl Into<String>) -> DiagnosticsBlock {
    DiagnosticsBlock {
        label: label.into(),
        text: text.into(),
    }
}

/// Shows a message of a record (`ModelMessage::to_json`), or the note about omitted ones.
fn message_block(message: &Value) -> DiagnosticsBlock {
    if let Some(omitted) = message["omitted"].as_u64() {
        return text_block("not kept", format!("{omitted} older messages"));
    }
    let mut text = message["content"].as_str().map(str::to_owned).unwrap_or_else(|| {
        let content = &message["content"];
        if content.is_null() {
            String::new()
        } else {
            pretty_print(&content.to_string())
        }
    });
    if let Some(calls) = message.get("tool_calls") {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&pretty_print(&calls.to_string()));
    }
    text_block(message["role"].as_str().unwrap_or_default(), text)
}

fn tool_block((name, definition): (&String, &RawJson)) -> DiagnosticsBlock {
    text_block(name, pretty_print(definition.as_str()))
}

fn response_blocks((index, call): (usize, &CallReport)) -> Vec<DiagnosticsBlock> {
    let raw = &call.response;
    let mut facts: Vec<String> = vec![call.status.as_str().into()];
    facts.extend(
        call.finish_reason
            .as_ref()
            .map(|reason| format!("finish_reason: {reason}")),
    );
    facts.extend(
        call.usage
            .map(|usage| format!("tokens: {}", format_tokens(usage))),
    );
    facts.extend(
        call.first_token_ms
            .map(|ms| format!("first token: {}", format_seconds(ms))),
    );
    facts.extend(
        call.duration_ms
            .map(|ms| format!("duration: {}", format_seconds(ms))),
    );
    if raw.cut {
        facts.push("truncated (setting limits.diagnostics_bytes)".into());
    }
    let name = match call.purpose {
        Purpose::Answer => format!("Call {}", index + 1),
        Purpose::Title => format!("Call {} (title of the conversation)", index + 1),
        Purpose::Summary => format!("Call {} (summary of the beginning)", index + 1),
        // Jobs have diagnostics of their own.
        Purpose::Step => format!("Call {} (step of a job)", index + 1),
    };
    let mut blocks = vec![text_block(&name, facts.join(" · "))];
    blocks.extend(
        call.failures
            .iter()
            .map(|failure| text_block("failed", &failure.error.message)),
    );
    for (label, text) in [("thinking", &raw.thinking), ("text", &raw.text)] {
        if !text.is_empty() {
            blocks.push(text_block(label, text));
        }
    }
    let calls = raw.tool_calls.iter();
    blocks.extend(calls.map(|call| text_block(format!("requests {}", call.name), &call.arguments)));
    let contents = raw.unreadable.iter();
    blocks.extend(contents.map(|content| text_block(format!("unreadable: {}", content.what), &content.raw)));
    let left_out = raw.left_out.iter();
    blocks.extend(left_out.map(|part| text_block(format!("left out: {}", part.what), &part.raw)));
    blocks
}

fn timeline_blocks(entries: &[TimelineEntry]) -> Vec<DiagnosticsBlock> {
    let began = entries.first().map_or(Timestamp(0), |entry| entry.at);
    let line = |entry: &TimelineEntry| {
        let after = |at: Timestamp| format_seconds(u64::try_from(at.0 - began.0).unwrap_or_default());
        let mut text = entry.kind.clone();
        if let Some(detail) = &entry.detail {
            text.push_str(&format!(": {detail}"));
        }
        if entry.count > 1 {
            text.push_str(&format!(" ({}, until {})", entry.count, after(entry.until)));
        }
        text_block(format!("+{}", after(entry.at)), text)
    };
    entries.iter().map(line).collect()
}
