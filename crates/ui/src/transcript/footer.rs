//! The footer of an answer: its model, its time, and its actions.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::answer_menu::{AnswerText, menu_button, regenerate_with};
use crate::{
    browser,
    components::{copy::CopyButton, icon_button::IconButton, icons, time::Time},
    diagnostics,
    runtime::{effect::effect, erase::Erase, shared_view::is_read_only},
    state::{AnswerRow, RunIntents, RunView, Siblings, models, use_conversations, use_run_intents},
};
use parlor_protocol::{ConversationId, MessageId, RunStatus, number_format::group_digits};

/// The footer: the actions once the answer has ended, and its diagnostics while it is being written.
#[component]
pub fn AnswerFooter(
    conversation_id: ConversationId,
    row: AnswerRow,
    /// True if it can be continued.
    can_continue: Memo<bool>,
    /// True while a run is active.
    busy: Memo<bool>,
) -> impl IntoView {
    let run = row.run.clone();
    let status = Memo::new(move |_| run.with(|run| run.status));
    let is_read_only = is_read_only();
    move || {
        let status = status.get();
        if is_read_only {
            status
                .is_terminal()
                .then(|| read_only_footer(conversation_id, &row, status))
                .into_any()
        } else if status.is_terminal() {
            footer_content(conversation_id, row.clone(), status, can_continue, busy)
        } else {
            view! { <footer class="message-foot">{diagnostics::button(row.id)}</footer> }.erase()
        }
    }
}

/// The footer of a reader.
fn read_only_footer(conversation_id: ConversationId, row: &AnswerRow, status: RunStatus) -> AnyView {
    let conversations = use_conversations();
    let (id, model) = (row.id, row.model.clone());
    let text = move || {
        let text = conversations.answer_text(conversation_id, id);
        text.unwrap_or_default()
    };
    view! {
        <footer class="message-foot">
            {(status == RunStatus::Stopped).then(|| view! { <span class="stopped">"Stopped"</span> })}
            {(!model.is_empty()).then(|| view! { <span class="model">{model.to_string()}</span> })}
            <Time at=row.created_at/>
            <CopyButton name="Copy" text=text/>
        </footer>
    }
    .erase()
}

fn footer_content(
    conversation_id: ConversationId,
    row: AnswerRow,
    status: RunStatus,
    can_continue: Memo<bool>,
    busy: Memo<bool>,
) -> AnyView {
    let (conversations, run_intents) = (use_conversations(), use_run_intents());
    let AnswerRow {
        id,
        model,
        created_at,
        siblings,
        run,
        ..
    } = row;
    let text: AnswerText = Arc::new(move || {
        let text = conversations.answer_text(conversation_id, id);
        text.unwrap_or_default()
    });
    let copied = text.clone();
    let action =
        move |name: &'static str, icon: AnyView, press: fn(RunIntents, ConversationId, MessageId)| {
            IconButton::new(name, icon, move || press(run_intents, conversation_id, id))
                .disabled_while(move || busy.get())
                .view()
        };
    view! {
        <footer class="message-foot">
            {(status == RunStatus::Stopped).then(|| view! { <span class="stopped">"Stopped"</span> })}
            {(!model.is_empty())
                .then(|| view! { <span class="model" title=model.to_string()>{models::short_name(&model).to_owned()}</span> })}
            <Time at=created_at/>
            <SiblingSwitch conversation_id id siblings names=["Answers", "Previous answer", "Next answer"]/>
            <CopyButton name="Copy" text=move || copied()/>
            // A truncated answer has the button in its problem box.
            {move || (status == RunStatus::Stopped && can_continue.get())
                .then(|| action("Continue", icons::play(), RunIntents::continue_answer))}
            // In one list, because the code of a view grows with the number of its siblings.
            {vec![
                action("Regenerate", icons::retry(), RunIntents::regenerate),
                regenerate_with(conversation_id, id, busy),
                menu_button(conversation_id, id, text),
                diagnostics::button(id),
                view! { <span class="figures">{move || run.with(figures)}</span> }.erase(),
            ]}
        </footer>
    }
    .erase()
}

/// The speed and the cost of an answer, as far as they are known: "34 tokens/s · $0.0123".
fn figures(run: &RunView) -> String {
    let totals = &run.totals;
    let generation_ms = run.elapsed_ms.saturating_sub(run.tools_ms);
    let speed = (totals.output_tokens as u64 * 1000)
        .checked_div(generation_ms)
        .filter(|speed| *speed > 0)
        .map(|speed| {
            let about = if totals.estimated_calls > 0 { "about " } else { "" };
            [about, &group_digits(speed), " tokens/s"].concat()
        });
    let cost = (totals.calls > totals.unpriced_calls).then(|| totals.cost.to_label());
    let figures: Vec<String> = speed.into_iter().chain(cost).collect();
    figures.join(" · ")
}

/// The pending focus after a switch to another answer: the new answer's view replaces this one, and the focus moves
/// with it.
#[derive(Clone, Copy, Default)]
pub struct SiblingStep(StoredValue<Option<(MessageId, StepDirection)>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepDirection {
    Previous,
    Next,
}

/// ‹ 1/2 ›: switches between the versions of a message.
#[component]
pub fn SiblingSwitch(
    conversation_id: ConversationId,
    id: MessageId,
    siblings: ArcRwSignal<Siblings>,
    /// The names of the group and of its buttons.
    names: [&'static str; 3],
) -> impl IntoView {
    let [group, previous_name, next_name] = names;
    let conversations = use_conversations();
    let stepped = expect_context::<SiblingStep>().0;
    let (back, on) = (NodeRef::<html::Button>::new(), NodeRef::<html::Button>::new());
    effect(move || {
        let (Some(back), Some(on)) = (back.get(), on.get()) else {
            return;
        };
        let step = stepped.try_update_value(|stepped| stepped.take_if(|(to, _)| *to == id));
        let Some((_, step)) = step.flatten() else { return };
        // At either end only the other button is enabled.
        let (first, second) = if step == StepDirection::Previous {
            (back, on)
        } else {
            (on, back)
        };
        browser::focus(if first.disabled() { &second } else { &first });
    });
    let button = move |to: Option<MessageId>, step: StepDirection| {
        let (name, icon, node) = match step {
            StepDirection::Previous => (previous_name, icons::previous(), back),
            StepDirection::Next => (next_name, icons::next(), on),
        };
        let press = move |_| {
            if let Some(to) = to {
                stepped.set_value(Some((to, step)));
                conversations.select_sibling(conversation_id, to);
            }
        };
        view! {
            <button
                node_ref=node
                type="button"
                class="icon-button"
                aria-label=name
                disabled=to.is_none()
                on:click=press
            >
                {icon}
            </button>
        }
    };
    move || {
        let Siblings { ids, index } = siblings.get();
        (ids.len() > 1).then(|| {
            let previous = index.checked_sub(1).and_then(|index| ids.get(index)).copied();
            let next = ids.get(index + 1).copied();
            let which = [&(index + 1).to_string(), "/", &ids.len().to_string()].concat();
            view! {
                <span class="siblings needs-script" role="group" aria-label=group>
                    {button(previous, StepDirection::Previous)}
                    <span>{which}</span>
                    {button(next, StepDirection::Next)}
                </span>
            }
            .erase()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{Dollars, TokenTotals};

    #[test]
    fn figures_leave_out_what_is_unknown() {
        let run = |totals, elapsed_ms| RunView {
            status: RunStatus::Complete,
            activity: None,
            error: None,
            truncation: None,
            elapsed_ms,
            thought_ms: 0,
            tools_ms: 1000,
            totals,
        };
        let known = TokenTotals {
            calls: 2,
            output_tokens: 3000,
            unpriced_calls: 1,
            cost: Dollars(12_300_000),
            ..TokenTotals::default()
        };
        assert_eq!(figures(&run(known, 3000)), "1,500 tokens/s · $0.0123");
        let guessed = TokenTotals {
            estimated_calls: 1,
            unpriced_calls: 2,
            ..known
        };
        assert_eq!(figures(&run(guessed, 3000)), "about 1,500 tokens/s");
        assert_eq!(figures(&run(TokenTotals::default(), 0)), "");
    }
}
