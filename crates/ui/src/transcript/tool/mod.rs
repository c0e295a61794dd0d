//! The card of a tool call: the tool and its main argument in one line; arguments and result when it is opened
//! ([`call_details`]); its files ([`files`](crate::files)).

use std::sync::Arc;

use leptos::{ev, prelude::*, wasm_split::wasm_split};

pub use self::image::{answer_image, load_image};
use self::{
    call_details::CallDetails,
    image::made_images,
    label::{call_label, shown_status},
};
use super::{
    activity::{Dots, elapsed},
    found::FoundCalls,
    opened::{Opened, OpenedView},
    texts,
    trace::show_details,
};
use crate::{
    components::{details, icons},
    files::file_list,
    panel::payload_card,
    runtime::{
        clock,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        lazy_part::LazyPart,
        shared_view::is_read_only,
    },
    state::{PartRow, RunView, use_conversations},
};
use parlor_protocol::{
    ConversationId, MessageId, ToolCall, ToolProgress, ToolStatus,
    intent::ApprovalAnswer,
    text::truncate_bytes,
    tool::{SESSION_ENDED, TRACEBACK},
    tool_kind::{ToolIcon, ToolKind, ToolOutput},
};

mod call_details;
mod changes;
mod image;
mod label;

/// The maximum length of an error in a closed card, in bytes.
const MAX_SHOWN_ERROR_BYTES: usize = 400;

/// The run that a call belongs to.
#[derive(Clone)]
pub struct CallContext {
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    pub run: ArcRwSignal<RunView>,
    /// What is open of the answer.
    pub opened: Opened,
    /// Its calls, of which the search may open one.
    pub found: FoundCalls,
}

/// One tool call. `prefix` begins the ids in it.
pub fn tool_card(
    part: PartRow,
    call: ArcRwSignal<ToolCall>,
    context: CallContext,
    prefix: String,
) -> AnyView {
    lazy_part(move || load_view(part.clone(), call.clone(), context.clone(), prefix.clone()))
}

/// Loads the view's code on first use.
#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible, preload(load_tool))]
pub fn load_view(
    part: PartRow,
    call: ArcRwSignal<ToolCall>,
    context: CallContext,
    prefix: String,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let (part, call, context, prefix) = (part.clone(), call.clone(), context.clone(), prefix.clone());
        view! { <ToolCard part call context prefix/> }.erase()
    }))
}

#[component]
fn ToolCard(
    part: PartRow,
    call: ArcRwSignal<ToolCall>,
    context: CallContext,
    prefix: String,
) -> impl IntoView {
    let is_read_only = is_read_only();
    let live = part.is_streamed;
    let (opened, view) = (context.opened, (part.key, OpenedView::Call));
    let was_open = opened.contains(view);
    let open = RwSignal::new(was_open);
    // The search opens it, too, and shows all of it.
    let opened_here = RwSignal::new(was_open);
    let was_found = RwSignal::new(false);
    let toggled = move |event: ev::Event| {
        let is_open = details::is_details_open(&event);
        open.set(is_open);
        opened.set(view, is_open);
        if !is_open {
            opened_here.set(false);
        } else if was_found.get_untracked() {
            context.found.show_again();
        }
    };
    let index = call.with_untracked(|call| call.index);
    context.found.on_found(
        move |found| found == index,
        move || {
            was_found.set(true);
            opened_here.set(true);
        },
    );
    let kind = call.with_untracked(ToolCall::kind);
    let status = {
        let (call, run) = (call.clone(), context.run.clone());
        Memo::new(move |_| {
            let has_run_ended = run.with(|run| run.status.is_terminal());
            call.with(|call| shown_status(call, has_run_ended))
        })
    };
    let line = {
        let call = call.clone();
        Memo::new(move |_| {
            let status = status.get();
            call.with(|call| (call_label(call, status), call.detail.clone(), duration_text(call)))
        })
    };
    let summary = move || {
        let (label, detail, took) = line.get();
        view! {
            <span class="tool-label">{label}</span>
            {detail.map(|detail| view! { <span class="tool-detail">{detail}</span> })}
            {took.map(|took| view! { <span class="tool-took">{took}</span> })}
        }
        .erase()
    };
    let progress = {
        let call = call.clone();
        Memo::new(move |_| call.with(|call| call.progress.clone()))
    };
    let payload = {
        let call = call.clone();
        Memo::new(move |_| call.with(|call| call.payload.clone()))
    };
    let given = {
        let call = call.clone();
        Memo::new(move |_| call.with(|call| call.attachments.clone()))
    };
    let makes_images = kind.is_some_and(|kind| kind.output == ToolOutput::Images);
    let files = match makes_images {
        true => made_images(call.clone()),
        false => (move || file_list(given.get())).erase(),
    };
    let asks = {
        let run = context.run.clone();
        Memo::new(move |_| {
            !is_read_only && status.get() == ToolStatus::Waiting && run.with(|run| !run.status.is_terminal())
        })
    };
    let approval = {
        let (call, context) = (call.clone(), context.clone());
        move || {
            asks.get()
                .then(|| approval_prompt(&context, call.with_untracked(|call| call.index)))
        }
    };
    let failed = {
        let call = call.clone();
        move || {
            (status.get() == ToolStatus::Failed && !is_read_only).then(|| {
                let error = call
                    .with_untracked(|call| call.output.clone())
                    .unwrap_or_default();
                // The open card has the whole text in its place.
                view! { <p class="tool-error">{short_error(&error)}</p> }
            })
        }
    };
    // As with thinking: content that streams in while the card is closed is rendered when it is opened.
    let seen =
        Memo::new(move |seen: Option<&bool>| seen.copied().unwrap_or(!live) || open.get() || asks.get());
    view! {
        <div class="tool" data-lazy=LazyPart::Tool.name() data-call=index.to_string()>
            // The user must see what they approve.
            <details class="fold" open=move || asks.get() || opened_here.get() on:toggle=toggled>
                <summary>
                    {tool_icon(kind)}
                    {summary}
                    <span class="tool-state">{move || status_icon(status.get())}</span>
                    {show_details()}
                </summary>
                <div class="tool-body">
                    {is_read_only.then(|| view! {
                        <p class="settings-empty">{texts::NOT_SHARED}</p>
                    })}
                    {move || (seen.get() && !is_read_only).then(|| {
                        let is_whole = was_found.get() || asks.get_untracked();
                        view! { <CallDetails call=call.clone() prefix=prefix.clone() is_whole/> }
                    })}
                </div>
            </details>
            {move || progress.get().filter(|_| !makes_images).map(progress_bar)}
            {failed}
            {move || payload.get().map(|payload| payload_card(context.conversation_id, payload))}
            {files}
            {approval}
        </div>
    }
}

/// Returns the part of an error that says the most: the beginning, or the end of a traceback, where the exception is.
fn short_error(error: &str) -> String {
    let has_traceback = error.contains(TRACEBACK) && !error.starts_with(SESSION_ENDED);
    if error.len() <= MAX_SHOWN_ERROR_BYTES || !has_traceback {
        return truncate_bytes(error, MAX_SHOWN_ERROR_BYTES);
    }
    let end = &error[error.ceil_char_boundary(error.len() - MAX_SHOWN_ERROR_BYTES)..];
    let whole_lines = end.split_once('\n').map_or(end, |(_, lines)| lines);
    format!("…\n{whole_lines}")
}

/// The icon of a tool. External tools have a plug.
fn tool_icon(kind: Option<&ToolKind>) -> AnyView {
    match kind.map_or(ToolIcon::Plug, |kind| kind.icon) {
        ToolIcon::Book => icons::book(),
        ToolIcon::Bookmark => icons::bookmark(),
        ToolIcon::Calculator => icons::calculator(),
        ToolIcon::Clock => icons::clock(),
        ToolIcon::Code => icons::code(),
        ToolIcon::Database => icons::database(),
        ToolIcon::Image => icons::image(),
        ToolIcon::Page => icons::page(),
        ToolIcon::Plug => icons::plug(),
        ToolIcon::Search => icons::search(),
    }
}

/// The sign of a call's status, with text for screen readers. How a call ended without a result is in its label.
fn status_icon(status: ToolStatus) -> AnyView {
    let (sign, word) = match status {
        ToolStatus::Running | ToolStatus::Allowed => {
            return view! { <span class="tool-took">{elapsed()}</span> <Dots/> }.erase();
        }
        ToolStatus::Waiting => (None, texts::CALL_ASKS),
        ToolStatus::Complete => (Some(icons::check()), texts::CALL_DONE),
        ToolStatus::Failed => (Some(icons::alert()), ""),
        ToolStatus::Denied | ToolStatus::Stopped | ToolStatus::Unknown => (None, ""),
    };
    view! {
        {sign}
        <span class="visually-hidden">{word}</span>
    }
    .erase()
}

/// The progress of a tool.
fn progress_bar(
    ToolProgress {
        message, progress, ..
    }: ToolProgress,
) -> AnyView {
    view! {
        <div class="tool-progress">
            {progress.map(|fraction| view! { <progress max="100" value=fraction.percent() aria-label=texts::PROGRESS></progress> })}
            <span>{message}</span>
        </div>
    }
    .erase()
}

/// The approval prompt.
fn approval_prompt(context: &CallContext, index: usize) -> AnyView {
    let conversations = use_conversations();
    let message_id = context.message_id;
    let button = move |class: &'static str, name: &'static str, answer: ApprovalAnswer| {
        let press = move |_| conversations.answer_approval(message_id, index, answer);
        view! { <button type="button" class=class on:click=press>{name}</button> }.erase()
    };
    view! {
        <div class="tool-approval" role="group" aria-label=texts::APPROVAL>
            <strong>{texts::APPROVAL}</strong>
            {button("button button-primary", texts::ALLOW, ApprovalAnswer::Allow)}
            {button("button", texts::DENY, ApprovalAnswer::Deny)}
            {button("button", texts::ALLOW_ALWAYS, ApprovalAnswer::Always)}
        </div>
    }
    .erase()
}

/// The duration of the call.
fn duration_text(call: &ToolCall) -> Option<String> {
    let took = call.ended_at?.0.checked_sub(call.started_at?.0)?;
    u64::try_from(took).ok().and_then(clock::format_duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_error_of_code_has_the_exception() {
        assert_eq!(short_error("It failed."), "It failed.");
        let long = "é".repeat(MAX_SHOWN_ERROR_BYTES);
        assert!(short_error(&long).ends_with("é…"));
        let traceback = format!("{TRACEBACK}:\n{}\nValueError: no", "  in a library\n".repeat(100));
        let short = short_error(&traceback);
        assert!(
            short.starts_with("…\n  in a library\n") && short.ends_with("\nValueError: no"),
            "{short}"
        );
        assert!(short.len() <= MAX_SHOWN_ERROR_BYTES + "…\n".len());
    }
}
