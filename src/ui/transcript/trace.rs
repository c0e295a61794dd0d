//! The thinking trace at the top of an answer whose model thinks: one line with the current step, which opens to all
//! thoughts and tool calls in their order. When the answer is complete, the trace is folded and shows the duration and
//! the used tools.

use leptos::{ev, prelude::*};

use super::{
    activity::{Dots, elapsed},
    parts::{Shown, part_id},
};
use crate::{
    protocol::RunStatus,
    protocol::ToolCall,
    protocol::ToolStatus,
    ui::{
        components::details, markdown::MarkdownView, runtime::clock, runtime::each::Each,
        runtime::erase::Erase, state::AnswerRow, state::PartKind, state::PartRow,
    },
};

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
    // The current step, if the trace shows it.
    let now = {
        let (run, parts) = (run.clone(), parts.clone());
        Memo::new(move |_| {
            let runs = run.with(|run| run.status == RunStatus::Running);
            let last = parts.with(|parts| parts.last().cloned());
            last.filter(|part| runs && is_step(part))
        })
    };
    let summary = move || match now.get() {
        Some(part) => current_step(part),
        None => trace_summary(
            open,
            run.with(|run| run.elapsed_ms),
            parts.with(|parts| used_tools(parts)),
        ),
    };
    let steps = move || {
        shown.with(|shown| {
            shown
                .all()
                .filter(|part| is_step(part))
                .cloned()
                .collect::<Vec<_>>()
        })
    };
    let step = move |part: PartRow| {
        let prefix = part_id(id, part.key);
        match part.kind.clone() {
            PartKind::Tool(call) => {
                view! { <p class="trace-tool">{move || call.with(call_step)}</p> }.erase()
            }
            _ => thought_step(part, prefix, open),
        }
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

fn is_step(part: &PartRow) -> bool {
    part.is_thinking() || matches!(part.kind, PartKind::Tool(_))
}

/// One line with the current step.
fn current_step(part: PartRow) -> AnyView {
    let (doing, detail) = match part.kind {
        PartKind::Tool(call) => {
            let works = {
                let call = call.clone();
                Memo::new(move |_| call.with(|call| call.status == ToolStatus::Running))
            };
            let label = call.with_untracked(|call| call.label.clone());
            let detail = call.with_untracked(|call| call.detail.clone().unwrap_or_default());
            // The call has ended, and the model is active again.
            let doing = move || {
                if works.get() {
                    label.clone()
                } else {
                    "Thinking".into()
                }
            };
            let detail = move || {
                if works.get() {
                    detail.clone()
                } else {
                    String::new()
                }
            };
            (doing.erase(), detail.erase())
        }
        _ => ("Thinking".into_any(), (move || part.latest_line.get()).erase()),
    };
    view! {
        <span class="trace-now">{doing} {elapsed()}</span>
        <Dots/>
        <span class="trace-latest">{detail}</span>
    }
    .erase()
}

/// The summary of a completed trace.
fn trace_summary(open: RwSignal<bool>, worked_ms: u64, used: String) -> AnyView {
    view! {
        <span>{move || if open.get() { "Hide details" } else { "Show details" }}</span>
        {clock::format_duration(worked_ms).map(|took| view! { <span class="trace-took">{took}</span> })}
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
        let label = call.with(|call| call.label.clone());
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

/// A tool call, whose card is in the text.
fn call_step(call: &ToolCall) -> String {
    match &call.detail {
        Some(detail) => [&call.label, ": ", detail].concat(),
        None => call.label.clone(),
    }
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
