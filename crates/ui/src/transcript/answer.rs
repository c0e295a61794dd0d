//! An answer: its parts in order, its current activity, and how it ended.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::{
    activity::activity,
    footer::AnswerFooter,
    found::FoundCalls,
    opened::Opened,
    parts::{Shown, part_id},
    problem::{Problem, describe_problem},
    sections::{Section, group_parts},
    suggestions::{sources, suggestions},
    texts,
    tool::{CallContext, answer_image, tool_card},
    trace::{Work, WorkContext},
};
use crate::{
    components::more::more,
    markdown::{CitationLookup, MarkdownView},
    panel::{load_card, payload_card},
    runtime::{each::Each, effect::effect, erase::Erase, shared_view::is_read_only},
    state::{AnswerRow, PartKind, PartRow, use_conversations, use_models},
};
use parlor_protocol::{ConversationId, RunStatus, WAITING_FOR_MODEL};

/// One answer.
#[component]
pub fn Answer(conversation_id: ConversationId, row: AnswerRow) -> impl IntoView {
    let pieces = RwSignal::new(1);
    let run = row.run.clone();
    let is_waiting = Memo::new(move |_| run.with(|run| run.status == RunStatus::Waiting));
    let shown = {
        let parts = row.parts.clone();
        Memo::new(move |_| parts.with(|parts| Shown::select(parts, pieces.get(), is_waiting.get())))
    };
    let has_more = Memo::new(move |_| shown.with(|shown| shown.has_more));
    let is_read_only = is_read_only();
    let first = Memo::new(move |_| shown.with(|shown| group_parts(&shown.first, is_read_only)));
    let last = Memo::new(move |_| shown.with(|shown| group_parts(&shown.last, is_read_only)));
    let sections = Memo::new(move |_| [first.get(), last.get()].concat());
    let doing = {
        let (run, parts) = (row.run.clone(), row.parts.clone());
        let (models, model) = (use_models(), row.model.clone());
        let thinks = Memo::new(move |_| {
            parts.with(|parts| parts.iter().any(PartRow::is_thinking)) || models.is_thinking_model(&model)
        });
        let parts = row.parts.clone();
        Memo::new(move |_| {
            let waits = || {
                if thinks.get() {
                    texts::MODEL_THINKS
                } else {
                    texts::WAITING_FOR_MODEL
                }
            };
            run.with(|run| match run.status {
                RunStatus::Running if run.activity.as_deref() == Some(WAITING_FOR_MODEL) => {
                    Some(waits().into())
                }
                RunStatus::Running if run.activity.is_some() => run.activity.clone(),
                RunStatus::Running if parts.with(Vec::is_empty) => Some(waits().into()),
                RunStatus::Waiting => Some(texts::WAITING_FOR_YOU.into()),
                _ => None,
            })
        })
    };
    let is_writing = {
        let (run, parts) = (row.run.clone(), row.parts.clone());
        Memo::new(move |_| {
            let is_text = |part: &PartRow| matches!(part.kind, PartKind::Text);
            run.with(|run| run.status == RunStatus::Running)
                && doing.with(Option::is_none)
                && parts.with(|parts| parts.last().is_some_and(is_text))
        })
    };
    let section = {
        let calls = CallContext {
            conversation_id,
            message_id: row.id,
            run: row.run.clone(),
            opened: Opened::new(),
            found: FoundCalls::new(conversation_id, row.id),
        };
        let context = WorkContext {
            row: row.clone(),
            calls,
            sections,
            doing,
        };
        move |section: Section<PartRow>| section_view(section, &context)
    };
    // Work tells its activity itself.
    let ends_in_work =
        Memo::new(move |_| sections.with(|sections| sections.last().is_some_and(|last| last.is_folded)));
    let extras = row.extras.clone();
    let can_continue = use_can_continue(conversation_id, &row);
    let (run, model) = (row.run.clone(), row.model.clone());
    let problem = Memo::new(move |_| run.with(|run| describe_problem(run, &model)));
    // The cards' code, while a card is being written: loaded later, it would push down the text that follows.
    let run = row.run.clone();
    let writes_card = Memo::new(move |_| {
        let is_card = |activity: &String| activity != WAITING_FOR_MODEL;
        run.with(|run| run.status == RunStatus::Running && run.activity.as_ref().is_some_and(is_card))
    });
    effect(move || {
        if writes_card.get() {
            // A failure is retried by the card.
            spawn_local(async { drop(load_card().await) });
        }
    });
    let (message_id, model) = (row.id, row.model.clone());
    let view = use_conversations().view(conversation_id);
    let busy = Memo::new(move |_| view.is_busy());
    // Problems from before the page was opened are not announced.
    let (run, is_new) = (row.run.clone(), row.is_new);
    let is_announced = Memo::new(move |is_announced: Option<&bool>| {
        is_new
            || is_announced.is_some_and(|is_announced| *is_announced)
            || run.with(|run| !run.status.is_terminal())
    });
    view! {
        <article id=message_id.to_string() class="message answer" class:writing=is_writing aria-label=texts::ANSWER tabindex="-1">
            <h2 class="visually-hidden">{texts::ANSWER}</h2>
            <Each of=move || first.get() key=Section::view_key children=section.clone()/>
            {move || has_more.get().then(|| more(move || pieces.update(|pieces| *pieces += 1)))}
            <Each of=move || last.get() key=Section::view_key children=section/>
            {move || doing.get().filter(|_| !ends_in_work.get()).map(|text| activity(text, !is_waiting.get()))}
            {move || problem.get().map(|(text, error)| view! {
                <Problem conversation_id message_id text error model=model.clone() can_continue busy is_announced/>
            })}
            {move || extras.with(|extras| (!extras.sources.is_empty()).then(|| sources(extras.sources.clone())))}
            <AnswerFooter conversation_id row=row.clone() can_continue busy/>
            {(!is_read_only).then(|| suggestions(conversation_id, row, busy))}
        </article>
    }
}

/// Returns true if the answer can be continued: it is not empty, it is the last one, and it is incomplete.
fn use_can_continue(conversation_id: ConversationId, row: &AnswerRow) -> Memo<bool> {
    let rows = use_conversations().view(conversation_id).rows;
    let (id, run, parts) = (row.id, row.run.clone(), row.parts.clone());
    Memo::new(move |_| {
        let broke_off = run.with(|run| {
            matches!(
                run.status,
                RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted
            ) || run.truncation.is_some()
        });
        broke_off
            && parts.with(|parts| !parts.is_empty())
            && rows.with(|rows| {
                let last = rows.iter().rfind(|row| row.is_recorded());
                last.is_some_and(|last| last.id() == id)
            })
    })
}

fn section_view(section: Section<PartRow>, context: &WorkContext) -> AnyView {
    let first = section.first_key().unwrap_or_default();
    match section.parts.into_iter().next() {
        Some(part) if !section.is_folded => part_view(part, context),
        _ => view! { <Work first context=context.clone()/> }.erase(),
    }
}

fn part_view(part: PartRow, context: &WorkContext) -> AnyView {
    let WorkContext { row, calls, .. } = context.clone();
    let prefix = part_id(row.id, part.key);
    match part.kind.clone() {
        // It is in a stretch.
        PartKind::Thinking => ().into_any(),
        PartKind::Text => {
            let extras = row.extras;
            let cited: CitationLookup = Arc::new(move |number| {
                extras.with(|extras| {
                    extras
                        .sources
                        .iter()
                        .find(|source| source.number == number)
                        .cloned()
                })
            });
            view! { <div class="prose"><MarkdownView prose=part.prose prefix cited=Some(cited)/></div> }
                .erase()
        }
        PartKind::Payload(payload) => payload_card(calls.conversation_id, payload),
        PartKind::File(file) => answer_image(file),
        PartKind::Tool(call) => tool_card(part, call, calls, prefix),
    }
}
