//! Messages that the server has lost: this page's copy, to be read and copied.

use leptos::prelude::*;

use super::{icons, texts};
use crate::{
    components::{copy::CopyButton, time::Time},
    markdown::{MarkdownView, Prose},
    runtime::erase::Erase,
    state::UnrecordedRow,
};
use parlor_protocol::{AssistantMessage, JoinedPart, JoinedPartKind, Message, MessageBody};

/// Renders the messages that the server has no record of, with a warning to copy them.
pub fn unrecorded_messages(row: UnrecordedRow) -> AnyView {
    let messages = row.messages.iter().map(message).collect_view();
    view! {
        <section class="lost" aria-label=texts::UNRECORDED>
            <p class="lost-note" role="status">
                {icons::alert()}
                <span>
                    <strong>{texts::UNRECORDED_TITLE}</strong>
                    {texts::UNRECORDED_WARNING}
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
            texts::YOU,
            text.clone(),
            view! { <div class="question-text" dir="auto">{text.clone()}</div> }.erase(),
        ),
        MessageBody::Assistant(assistant) => {
            (texts::ANSWER, full_text(assistant), answer(message, assistant))
        }
        // There is nothing to lose.
        MessageBody::Damaged => (texts::YOU, String::new(), ().into_any()),
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
                <CopyButton name=texts::COPY text=move || text.clone()/>
            </footer>
        </article>
    }
    .erase()
}

fn full_text(assistant: &AssistantMessage) -> String {
    let joined_parts = assistant.joined_parts().into_iter();
    joined_parts
        .map(|joined| match joined.kind {
            JoinedPartKind::ToolCall(call) => call.output.clone().unwrap_or_default(),
            _ => joined.texts.concat(),
        })
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The full text of an answer, including its thinking.
fn answer(message: &Message, assistant: &AssistantMessage) -> AnyView {
    let joined = |(index, joined): (usize, JoinedPart<'_>)| {
        let prefix = ["lost-", &message.id.to_string(), "-", &index.to_string()].concat();
        if let JoinedPartKind::ToolCall(call) = joined.kind {
            let output = call.output.clone().unwrap_or_default();
            return view! { <div class="tool"><p>{call.label.clone()}</p><pre tabindex="0">{output}</pre></div> }.erase();
        }
        let text = view! { <MarkdownView prose=Prose::finished(&joined.texts.concat()) prefix/> };
        if joined.kind == JoinedPartKind::Thinking {
            view! {
                <details class="trace fold" open>
                    <summary>{texts::THINKING}</summary>
                    <div class="trace-steps">{text}</div>
                </details>
            }
            .erase()
        } else {
            view! { <div class="prose">{text}</div> }.erase()
        }
    };
    assistant
        .joined_parts()
        .into_iter()
        .enumerate()
        .map(joined)
        .collect_view()
        .into_any()
}
