//! The footer of an answer: its actions, its model, its cost and its time. It is shown on demand, and always has its place.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    answer_menu::{AnswerText, menu_button, regenerate_with},
    texts,
};
use crate::{
    browser,
    components::{copy::CopyButton, icon_button::IconButton, icons, time::Time},
    runtime::{effect::effect, erase::Erase, shared_view::is_read_only},
    state::{AnswerRow, RunIntents, RunView, Siblings, models, use_conversations, use_run_intents},
};
use parlor_protocol::{ConversationId, MessageId, RunStatus, number_format::group_digits};

/// The footer: the actions once the answer has ended, and the menu while it is being written.
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
        let stopped = (status == RunStatus::Stopped)
            .then(|| view! { <span class="stopped">{texts::STOPPED}</span> }.erase());
        let actions = match (is_read_only, status.is_terminal()) {
            (true, false) => return ().into_any(),
            (true, true) => {
                let text = answer_text(conversation_id, row.id);
                vec![view! { <CopyButton name=texts::COPY text=move || text()/> }.erase()]
            }
            (false, false) => {
                let text = answer_text(conversation_id, row.id);
                vec![menu_button(conversation_id, row.id, text, false)]
            }
            (false, true) => actions(conversation_id, &row, status, can_continue, busy),
        };
        let facts = status.is_terminal().then(|| facts(&row, is_read_only));
        view! { <footer class="message-foot">{stopped} {actions} {facts}</footer> }.erase()
    }
}

fn answer_text(conversation_id: ConversationId, id: MessageId) -> AnswerText {
    let conversations = use_conversations();
    Arc::new(move || {
        let text = conversations.answer_text(conversation_id, id);
        text.unwrap_or_default()
    })
}

/// The buttons of an answer that has ended. They are one list, because the code of a view grows with the number of its siblings.
fn actions(
    conversation_id: ConversationId,
    row: &AnswerRow,
    status: RunStatus,
    can_continue: Memo<bool>,
    busy: Memo<bool>,
) -> Vec<AnyView> {
    let run_intents = use_run_intents();
    let id = row.id;
    let text = answer_text(conversation_id, id);
    let copied = text.clone();
    let action =
        move |name: &'static str, icon: AnyView, press: fn(RunIntents, ConversationId, MessageId)| {
            let button = IconButton::new(name, icon, move || press(run_intents, conversation_id, id));
            button.disabled_while(move || busy.get())
        };
    // A truncated answer has the button in its problem box.
    let continue_button = move || {
        let action = action(texts::CONTINUE, icons::play(), RunIntents::continue_answer).class("foot-stays");
        (status == RunStatus::Stopped && can_continue.get()).then(|| action.view())
    };
    let siblings = row.siblings.clone();
    let names = [texts::ANSWERS, texts::PREVIOUS_ANSWER, texts::NEXT_ANSWER];
    let mut buttons = vec![continue_button.erase()];
    // An answer that failed at once has nothing to copy.
    if row.parts.with_untracked(|parts| !parts.is_empty()) {
        buttons.push(view! { <CopyButton name=texts::COPY text=move || copied()/> }.erase());
    }
    buttons.extend([
        action(texts::REGENERATE, icons::retry(), RunIntents::regenerate).view(),
        regenerate_with(conversation_id, id, busy),
        menu_button(conversation_id, id, text, true),
        view! { <SiblingSwitch conversation_id id siblings names/> }.erase(),
    ]);
    buttons
}

/// The model, the speed, the cost and the time. The time is the last one: the browser writes it in another length than the
/// server.
fn facts(row: &AnswerRow, is_read_only: bool) -> AnyView {
    let (model, run) = (row.model.clone(), row.run.clone());
    let paid = run.clone();
    let figures = (!is_read_only).then(|| {
        view! {
            <span class="speed">{move || run.with(speed)}</span>
            <span class="cost">{move || paid.with(cost)}</span>
        }
        .erase()
    });
    view! {
        <span class="facts">
            {(!model.is_empty())
                .then(|| view! { <span class="model" title=model.to_string()>{models::short_name(&model).to_owned()}</span> })}
            {figures}
            <Time at=row.created_at/>
        </span>
    }
    .erase()
}

/// The speed of an answer, if it is known: "34 tokens/s".
fn speed(run: &RunView) -> Option<String> {
    let totals = &run.totals;
    let generation_ms = run.elapsed_ms.saturating_sub(run.tools_ms);
    (totals.output_tokens as u64 * 1000)
        .checked_div(generation_ms)
        .filter(|speed| *speed > 0)
        .map(|speed| texts::speed(&group_digits(speed), totals.estimated_calls > 0))
}

/// The cost of an answer, if it is known: "$0.012".
fn cost(run: &RunView) -> Option<String> {
    let totals = &run.totals;
    (totals.calls > totals.unpriced_calls).then(|| totals.cost.to_short_label())
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
        let figures = |run: &RunView| (speed(run), cost(run));
        let words = |text: &str| Some(text.to_owned());
        assert_eq!(
            figures(&run(known, 3000)),
            (words("1,500 tokens/s"), words("$0.012"))
        );
        let guessed = TokenTotals {
            estimated_calls: 1,
            unpriced_calls: 2,
            ..known
        };
        assert_eq!(
            figures(&run(guessed, 3000)),
            (words("about 1,500 tokens/s"), None)
        );
        assert_eq!(figures(&run(TokenTotals::default(), 0)), (None, None));
    }
}
