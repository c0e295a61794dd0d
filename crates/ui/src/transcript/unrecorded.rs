//! Messages that the server has lost: this page's copy, to be read and copied.

use leptos::prelude::*;

use super::icons;
use crate::{
    components::{copy::CopyButton, time::Time},
    markdown::{MarkdownView, Prose},
    runtime::erase::Erase,
    state::UnrecordedRow,
};
use parlor_protocol::{AssistantMessage, Message, MessageBody, MessagePiece, MessagePieceKind};

/// Renders the messages that the server has no record of, with a warning to copy them.
pub fn unrecorded_messages(row: UnrecordedRow) -> AnyView {
    let messages = row.messages.iter().map(message).collect_view();
    view! {
        <section class="lost" aria-label="Not on the server">
            <p class="lost-note" role="status">
                {icons::alert()}
                <span>
                    <strong>"Incomplete:"</strong>
                    " the server has no record of these messages, perhaps because an older backup was restored. Copy \
                     what you need: they disappear with this page."
                </span>
            </p>
            {messages}
        </section>
    }
    .erase()
}

fn message(message: &Message) -> AnyView {
    let (name, text, shown) = match &message.body {
        MessageBody::User { text, .. } => (
            "You",
            text.clone(),
            view! { <div class="question-text" dir="auto">{text.clone()}</div> }.erase(),
        ),
        MessageBody::Assistant(assistant) => ("Answer", full_text(assistant), answer(message, assistant)),
        // There is nothing to lose.
        MessageBody::Damaged => ("You", String::new(), ().into_any()),
    };
    let class = match message.body {
        MessageBody::User { .. } | MessageBody::Damaged => "message question",
        MessageBody::Assistant(_) => "message answer",
    };
    view! {
        <article class=class aria-label=name>
            <h2 class="visually-hidden">{name}</h2>
            {shown}
            <footer class="message-foot">
                <Time at=message.created_at/>
                <CopyButton name="Copy" text=move || text.clone()/>
            </footer>
        </article>
    }
    .erase()
}

fn full_text(assistant: &AssistantMessage) -> String {
    let pieces = assistant.pieces().into_iter();
    pieces
        .map(|piece| match piece.kind {
            MessagePieceKind::ToolCall(call) => call.output.clone().unwrap_or_default(),
            _ => piece.texts.concat(),
        })
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The full text of an answer, including its thinking.
fn answer(message: &Message, assistant: &AssistantMessage) -> AnyView {
    let piece = |(index, piece): (usize, MessagePiece<'_>)| {
        let prefix = ["lost-", &message.id.to_string(), "-", &index.to_string()].concat();
        if let MessagePieceKind::ToolCall(call) = piece.kind {
            let output = call.output.clone().unwrap_or_default();
            return view! { <div class="tool"><p>{call.label.clone()}</p><pre tabindex="0">{output}</pre></div> }.erase();
        }
        let text = view! { <MarkdownView prose=Prose::finished(&piece.texts.concat()) prefix/> };
        if piece.kind == MessagePieceKind::Thinking {
            view! {
                <details class="trace fold" open>
                    <summary>"Thinking"</summary>
                    <div class="trace-steps">{text}</div>
                </details>
            }
            .erase()
        } else {
            view! { <div class="prose">{text}</div> }.erase()
        }
    };
    assistant
        .pieces()
        .into_iter()
        .enumerate()
        .map(piece)
        .collect_view()
        .into_any()
}
