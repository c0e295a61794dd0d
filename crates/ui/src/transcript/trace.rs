//! The thinking trace at the top of an answer whose model thinks: one line with the current thought, which opens to all of
//! them. When the thinking has ended, the line shows its duration and the used tools, whose cards are in the answer.

use leptos::{ev, prelude::*};

use super::{
    activity::{Dots, elapsed},
    parts::{Shown, part_id},
};
use crate::{
    components::details,
    markdown::MarkdownView,
    runtime::{clock, each::Each, erase::Erase},
    state::{AnswerRow, PartKind, PartRow},
};
use parlor_protocol::{RunStatus, ToolStatus};

/// The trace of an answer, if its model has thought. It has the steps among the shown parts.
pub fn trace(row: AnswerRow, shown: Memo<Shown>) -> AnyView {
    let parts = row.parts.clone();
    let thinks = Memo::new(move |_| parts.with(|parts| parts.iter().any(PartRow::is_thinking)));
    (move || thinks.get().then(|| view! { <Trace row=row.clone() shown/> })).erase()
}

#[component]
fn Trace(row: AnswerRow, shown: Memo<Shown>) -> impl IntoView {
    let AnswerRow { id, run, parts, .. } = row;
    let open = RwSignal::new(false);
    let toggled = move |event: ev::Event| open.set(details::is_details_open(&event));
    // The current thought.
    let now = {
        let (run, parts) = (run.clone(), parts.clone());
        Memo::new(move |_| {
            let runs = run.with(|run| run.status == RunStatus::Running);
            let last = parts.with(|parts| parts.last().cloned());
            last.filter(|part| runs && part.is_thinking())
        })
    };
    let summary = move || match now.get() {
        Some(part) => current_thought(&part),
        None => trace_summary(
            run.with(|run| run.thought_ms),
            if open.get() {
                String::new()
            } else {
                parts.with(|parts| used_tools(parts))
            },
        ),
    };
    let steps = move || {
        shown.with(|shown| {
            shown
                .all()
                .filter(|part| part.is_thinking())
                .cloned()
                .collect::<Vec<_>>()
        })
    };
    let step = move |part: PartRow| {
        let prefix = part_id(id, part.key);
        thought_step(part, prefix, open)
    };
    view! {
        <details class="trace fold" on:toggle=toggled>
            <summary>{summary}</summary>
            <div class="trace-steps">
                <Each of=steps key=PartRow::view_key children=step/>
            </div>
        </details>
    }
}

/// One line with the latest thought.
fn current_thought(part: &PartRow) -> AnyView {
    let latest = part.latest_line.clone();
    view! {
        <span class="trace-now">"Thinking" {elapsed()}</span>
        <Dots/>
        <span class="trace-latest">{move || latest.get()}</span>
    }
    .erase()
}

/// The summary of thinking that has ended: "Thought for 2 s". Short thinking, and that of old answers, has no duration.
fn trace_summary(thought_ms: u64, used: String) -> AnyView {
    let words = match clock::format_duration(thought_ms) {
        Some(took) => ["Thought for ", &took].concat(),
        None => "Thought".into(),
    };
    view! {
        <span class="trace-now">{words}</span>
        <span class="trace-latest">{used}</span>
    }
    .erase()
}

/// The used tools by their display names: "Searched, Fetched ×2".
fn used_tools(parts: &[PartRow]) -> String {
    let mut used: Vec<(String, usize)> = Vec::new();
    for part in parts {
        let PartKind::Tool(call) = &part.kind else {
            continue;
        };
        // The label of a failed call says what it tried.
        let done = call.with(|call| (call.status == ToolStatus::Complete).then(|| call.label.clone()));
        let Some(label) = done else { continue };
        match used.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => used.push((label, 1)),
        }
    }
    let times = |(label, count): (String, usize)| match count {
        1 => label,
        _ => [&label, " ×", &count.to_string()].concat(),
    };
    used.into_iter().map(times).collect::<Vec<_>>().join(", ")
}

fn thought_step(part: PartRow, prefix: String, open: RwSignal<bool>) -> AnyView {
    let PartRow {
        is_streamed: live,
        prose,
        ..
    } = part;
    // Without scripts, the user can open what the server rendered. Content that streams in while the trace is folded
    // is rendered when it is opened.
    let seen = Memo::new(move |seen: Option<&bool>| seen.copied().unwrap_or(!live) || open.get());
    view! {
        <div class="thinking-text">
            {move || seen.get().then(|| view! { <MarkdownView prose=prose.clone() prefix=prefix.clone()/> })}
        </div>
    }
    .erase()
}
