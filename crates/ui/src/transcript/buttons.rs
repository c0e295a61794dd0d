//! The actions that an answer suggests, as buttons. Their code is loaded with that of the other suggestions.

use std::sync::Arc;

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        icons,
        toast::use_toasts,
    },
    panel::use_panel,
    runtime::{erase::Erase, lazy_part::LazyPart},
    state::{AnswerExtras, RunIntents, route::Route, use_conversations, use_navigation, use_run_intents},
    transcript::actions::{self, ActionStores, PressedAction},
};
use parlor_protocol::{ActionHandler, ActionStyle, ConversationId, Interaction, MessageId, SuggestedAction};

/// An action with its index in the answer.
type NumberedAction = (usize, SuggestedAction);

/// The buttons of the actions that have a performer.
pub fn action_buttons(
    (conversation_id, message_id, extras): (ConversationId, MessageId, &ArcRwSignal<AnswerExtras>),
    actions: &[SuggestedAction],
) -> AnyView {
    let (conversations, run_intents, toasts) = (use_conversations(), use_run_intents(), use_toasts());
    let stores = ActionStores {
        conversations,
        navigation: use_navigation(),
        panel: use_panel(),
        toasts,
    };
    let confirm = Confirm::new();
    let perform = Callback::new(move |(index, action): NumberedAction| {
        if action.handler == ActionHandler::Server {
            let model = conversations.view(conversation_id).model.get_untracked();
            return send_action(run_intents, conversation_id, model, action);
        }
        let pressed = PressedAction {
            conversation_id,
            message_id,
            data: action.data,
        };
        let Some(performer) = actions::find_performer(&action.action) else {
            return;
        };
        if performer(stores, &pressed) {
            conversations.mark_action_taken(conversation_id, message_id, index);
        } else {
            toasts.show(texts::ACTION_IMPOSSIBLE);
        }
    });
    let press = Callback::new(move |(index, action): NumberedAction| {
        if action.style == ActionStyle::Warning {
            // It can't be undone.
            confirm.ask(ConfirmRequest {
                title: action.label.clone(),
                text: texts::ACTION_WARNING.into(),
                button_label: texts::ACTION_CONFIRM,
                on_confirm: Arc::new(move || perform.run((index, action.clone()))),
            });
        } else {
            perform.run((index, action));
        }
    });
    let numbered: Vec<NumberedAction> = actions.iter().cloned().enumerate().collect();
    let extras = extras.clone();
    let shown: Vec<AnyView> = numbered
        .iter()
        .filter(|(_, action)| {
            action.handler == ActionHandler::Server || actions::find_performer(&action.action).is_some()
        })
        .map(|(index, action)| action_button(*index, action, is_taken(&extras, *index), press))
        .collect();
    view! {
        <div class="suggestions actions needs-script" role="group" aria-label=texts::ACTIONS data-lazy=LazyPart::Suggestions.name()>
            {shown}
        </div>
        {confirm.dialog()}
    }
    .erase()
}

/// Sends an action that the server performs, as the user's next message.
fn send_action(run_intents: RunIntents, id: ConversationId, model: Option<String>, action: SuggestedAction) {
    let interaction = Interaction::ActionExecuted {
        action: action.action,
        data: action.data,
    };
    run_intents.send_interaction(Route::Conversation(id), action.label, model, interaction);
    browser::focus_after_removal();
}

fn is_taken(extras: &ArcRwSignal<AnswerExtras>, index: usize) -> Memo<bool> {
    let extras = extras.clone();
    Memo::new(move |_| extras.with(|extras| extras.actions.get(index).is_some_and(|action| action.taken)))
}

fn action_button(
    index: usize,
    action: &SuggestedAction,
    taken: Memo<bool>,
    press: Callback<NumberedAction>,
) -> AnyView {
    let class = match action.style {
        ActionStyle::Primary => "button button-primary",
        ActionStyle::Secondary => "button",
        ActionStyle::Warning => "button button-warning",
    };
    let is_warning = action.style == ActionStyle::Warning;
    let numbered = (index, action.clone());
    let click = move |_| {
        if !taken.get_untracked() {
            press.run(numbered.clone());
        }
    };
    let icon = move || {
        if taken.get() {
            Some(icons::check())
        } else {
            is_warning.then(icons::alert)
        }
    };
    let done = move || {
        taken
            .get()
            .then(|| view! { <span class="visually-hidden">{texts::ACTION_DONE}</span> })
    };
    view! {
        <button
            type="button"
            class=class
            aria-disabled=move || taken.get().then_some("true")
            on:click=click
        >
            {icon}
            <span dir="auto">{action.label.clone()}</span>
            {done}
        </button>
    }
    .erase()
}
