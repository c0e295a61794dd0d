//! A stretch of work as one line: thoughts and calls that leave nothing to look at. While it runs, the line has the latest
//! thought, and the active calls are below it; afterwards it says how long the work took. It opens to the steps in their order.

use leptos::{ev, prelude::*};

use super::{
    activity::{Dots, elapsed},
    opened::OpenedView,
    parts::part_id,
    sections::{PartKey, Section},
    texts,
    tool::{CallContext, tool_card},
};
use crate::{
    components::details,
    markdown::MarkdownView,
    runtime::{clock, each::Each, erase::Erase},
    state::{AnswerRow, PartKind, PartRow, call_interval, union_ms},
};
use parlor_protocol::{ToolCall, ToolStatus};

/// What a stretch of work knows of its answer.
#[derive(Clone)]
pub struct WorkContext {
    pub row: AnswerRow,
    pub calls: CallContext,
    pub sections: Memo<Vec<Section<PartRow>>>,
    /// The current activity of the run.
    pub doing: Memo<Option<String>>,
}

/// The state of a stretch, as its line tells it.
#[derive(Clone, PartialEq)]
enum Progress {
    Thinking(PartRow),
    /// It waits for a call, or for the model.
    Working {
        activity: Option<String>,
        latest: Option<PartRow>,
    },
    Ended,
}

/// The stretch that begins with a part.
#[component]
pub fn Work(first: PartKey, context: WorkContext) -> impl IntoView {
    let WorkContext {
        row,
        calls,
        sections,
        doing,
    } = context;
    let steps = Memo::new(move |_| {
        sections.with(|sections| {
            let section = sections.iter().find(|section| section.first_key() == Some(first));
            section.map(|section| section.parts.clone()).unwrap_or_default()
        })
    });
    let is_last = Memo::new(move |_| {
        sections.with(|sections| sections.last().and_then(Section::first_key)) == Some(first)
    });
    let opened = calls.opened;
    // Its parts may have been in another view before: of a single call, or of a stretch that a call with a result has divided.
    let was_open = steps.with_untracked(|steps| {
        let is_opened = |step: &PartRow| {
            opened.contains((step.key, OpenedView::Stretch)) || opened.contains((step.key, OpenedView::Call))
        };
        steps.iter().any(is_opened)
    });
    let open = RwSignal::new(was_open);
    // The search opens it, too.
    let opened_here = RwSignal::new(was_open);
    calls.found.on_found(
        move |found| {
            let has_index = |step: &PartRow| {
                step.call()
                    .is_some_and(|call| call.with_untracked(|call| call.index == found))
            };
            steps.with_untracked(|steps| steps.iter().any(has_index))
        },
        move || opened_here.set(true),
    );
    let toggled = move |event: ev::Event| {
        let is_open = details::is_details_open(&event);
        open.set(is_open);
        if !is_open {
            opened_here.set(false);
        }
        steps.with_untracked(|steps| {
            for step in steps {
                opened.set((step.key, OpenedView::Stretch), is_open);
            }
        });
    };
    let run = row.run.clone();
    let is_running = Memo::new(move |_| run.with(|run| !run.status.is_terminal()));
    let active = Memo::new(move |_| {
        if !is_running.get() {
            return Vec::new();
        }
        steps.with(|steps| {
            let is_active = |step: &&PartRow| step.call().is_some_and(|call| call.with(is_active));
            steps.iter().filter(is_active).cloned().collect::<Vec<_>>()
        })
    });
    let progress = Memo::new(move |_| {
        let has_active = active.with(|active| !active.is_empty());
        if !is_running.get() || !(is_last.get() || has_active) {
            return Progress::Ended;
        }
        let last = steps.with(|steps| steps.last().cloned());
        match last.filter(|step| step.is_thinking() && doing.get().is_none()) {
            Some(thought) => Progress::Thinking(thought),
            None => Progress::Working {
                activity: doing.get().filter(|_| !has_active),
                latest: steps.with(|steps| steps.iter().rfind(|step| step.is_thinking()).cloned()),
            },
        }
    });
    let answer = row.clone();
    let summary = move || match progress.get() {
        Progress::Thinking(thought) => thinking_line(thought),
        Progress::Working { activity, latest } => working_line(activity, latest),
        Progress::Ended => steps.with(|steps| {
            let used = if open.get() {
                String::new()
            } else {
                used_tools(steps)
            };
            ended_line(ended_words(steps, thought_ms(steps, &answer)), used)
        }),
    };
    // Without scripts, the user can open what the server rendered. Content that streams in is rendered when it is opened.
    let seen = Memo::new(move |seen: Option<&bool>| {
        seen.is_some_and(|seen| *seen)
            || open.get()
            || steps.with(|steps| steps.iter().any(|step| !step.is_streamed))
    });
    let step = {
        let calls = calls.clone();
        move |part: PartRow| step_view(part, calls.clone())
    };
    let card = move |part: PartRow| step_view(part, calls.clone());
    view! {
        <div class="work">
            <details class="trace fold" open=move || opened_here.get() on:toggle=toggled>
                <summary>{summary} {show_details()}</summary>
                <div class="trace-steps">
                    <Each
                        of=move || if seen.get() { steps.get() } else { Vec::new() }
                        key=PartRow::view_key
                        children=step
                    />
                </div>
            </details>
            <Each
                of=move || if open.get() { Vec::new() } else { active.get() }
                key=PartRow::view_key
                children=card
            />
        </div>
    }
}

fn is_active(call: &ToolCall) -> bool {
    matches!(call.status, ToolStatus::Running | ToolStatus::Allowed)
}

fn step_view(part: PartRow, calls: CallContext) -> AnyView {
    let prefix = part_id(calls.message_id, part.key);
    match part.kind.clone() {
        PartKind::Tool(call) => tool_card(part, call, calls, prefix),
        _ => view! { <div class="thinking-text"><MarkdownView prose=part.prose prefix/></div> }.erase(),
    }
}

/// What a screen reader is told about a line that can be opened.
pub fn show_details() -> AnyView {
    view! { <span class="visually-hidden">{texts::SHOW_DETAILS}</span> }.erase()
}

/// The line while the model thinks.
fn thinking_line(thought: PartRow) -> AnyView {
    view! {
        <span class="trace-now">{texts::THINKING} {elapsed()}</span>
        <Dots/>
        <span class="trace-latest">{move || thought.latest_line.get()}</span>
    }
    .erase()
}

/// The line while calls run, which show by themselves that they do, or while the run prepares its next step.
fn working_line(activity: Option<String>, latest: Option<PartRow>) -> AnyView {
    match activity {
        Some(activity) => view! { <span class="trace-now">{activity} {elapsed()}</span> <Dots/> }.erase(),
        None => {
            let latest = move || latest.as_ref().map(|thought| thought.latest_line.get());
            view! { <span class="trace-now">{texts::WORKING}</span> <span class="trace-latest">{latest}</span> }
                .erase()
        }
    }
}

fn ended_line(words: String, used: String) -> AnyView {
    let used = (!used.is_empty()).then(|| view! { <span class="trace-latest">{used}</span> });
    view! {
        <span class="trace-now">{words}</span>
        {used}
    }
    .erase()
}

/// The summary of work that has ended: "Worked for 14 s · 12 steps", or "Thought for 2 s". Short work, and that of old
/// answers, has no duration. `thought_ms` is the time of all thoughts of the answer, if they are all among the steps.
fn ended_words(steps: &[PartRow], thought_ms: Option<u64>) -> String {
    let calls = steps.iter().filter_map(PartRow::call);
    let intervals: Vec<_> = calls
        .clone()
        .filter_map(|call| call.with(call_interval))
        .collect();
    let has_thoughts = steps.iter().any(PartRow::is_thinking);
    let thought_ms = if has_thoughts { thought_ms } else { Some(0) };
    let took = thought_ms.and_then(|thought_ms| clock::format_duration(union_ms(intervals) + thought_ms));
    match calls.count() {
        0 => texts::thought(took.as_deref()),
        _ => texts::worked(took.as_deref(), steps.len()),
    }
}

/// Returns the time of the thoughts of an answer, if they are all among the steps: that of a single one is not recorded.
fn thought_ms(steps: &[PartRow], row: &AnswerRow) -> Option<u64> {
    let count = |parts: &[PartRow]| parts.iter().filter(|part| part.is_thinking()).count();
    let all = row.parts.with(|parts| count(parts));
    (count(steps) == all).then(|| row.run.with(|run| run.thought_ms))
}

/// The used tools by their display names: "Searched, Fetched ×2".
fn used_tools(parts: &[PartRow]) -> String {
    let mut used: Vec<(String, usize)> = Vec::new();
    for call in parts.iter().filter_map(PartRow::call) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{JoinedPart, JoinedPartKind, Timestamp};

    fn thought(node: usize) -> PartRow {
        let joined = JoinedPart {
            key: (node, 0),
            kind: JoinedPartKind::Thinking,
            texts: vec!["Hm."],
        };
        PartRow::new(&joined, true, false)
    }

    /// A call of the first node, active from `start` to `end`, in seconds.
    fn call(label: &str, status: ToolStatus, start: i64, end: i64) -> PartRow {
        let call = ToolCall {
            label: label.into(),
            started_at: Some(Timestamp(start * 1000)),
            ended_at: Some(Timestamp(end * 1000)),
            ..ToolCall::for_test("look", status)
        };
        let joined = JoinedPart {
            key: (0, 1),
            kind: JoinedPartKind::ToolCall(&call),
            texts: Vec::new(),
        };
        PartRow::new(&joined, true, false)
    }

    #[test]
    fn summary_says_how_long_it_took() {
        Owner::new().with(|| {
            let looked = |start, end| call("Looked", ToolStatus::Complete, start, end);
            let worked = [thought(0), looked(0, 5), looked(3, 9), looked(20, 22)];
            assert_eq!(ended_words(&worked, Some(3_000)), "Worked for 14 s · 4 steps");
            assert_eq!(
                ended_words(&worked, None),
                "Worked · 4 steps",
                "a part of it is unknown"
            );
            assert_eq!(ended_words(&worked[1..], None), "Worked for 11 s · 3 steps");
            assert_eq!(ended_words(&worked[..1], Some(2_000)), "Thought for 2.0 s");
            assert_eq!(ended_words(&worked[..1], Some(10)), "Thought");
        });
    }

    #[test]
    fn summary_names_the_tools_that_succeeded() {
        Owner::new().with(|| {
            let steps = [
                call("Searched", ToolStatus::Complete, 0, 1),
                thought(1),
                call("Searching", ToolStatus::Stopped, 0, 1),
                call("Fetched", ToolStatus::Complete, 0, 1),
                call("Searched", ToolStatus::Complete, 0, 1),
            ];
            assert_eq!(used_tools(&steps), "Searched ×2, Fetched");
        });
    }
}
