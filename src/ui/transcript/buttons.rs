//! The actions that an answer suggests, as buttons. The code comes with that of the other things that an answer offers.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    protocol::{ActionHandler, ActionStyle, ConversationId, Interaction, MessageId, SuggestedAction},
    ui::{
        actions::{self, Pressed},
        browser,
        confirm::{Confirm, Question},
        erase::Erase,
        icons,
        live::{Live, Offers, use_live},
        own::use_page,
        panel::use_panel,
        place::Place,
    },
};

/// An action, and which of its answer's it is.
type Numbered = (usize, SuggestedAction);

/// The buttons of the actions that somebody does.
pub fn buttons(
    (conversation_id, message_id, offers): (ConversationId, MessageId, &ArcRwSignal<Offers>),
    actions: &[SuggestedAction],
) -> AnyView {
    let live = use_live();
    let (page, panel) = (use_page(), use_panel());
    let known = page.clone();
    let confirm = Confirm::new();
    let perform = Callback::new(move |(index, action): Numbered| {
        if action.handler == ActionHandler::Server {
            return send(live, conversation_id, action);
        }
        let pressed = Pressed {
            conversation_id,
            message_id,
            data: action.data,
        };
        let Some(performer) = untrack(|| actions::find(&known, &action.action)) else {
            return;
        };
        if performer.perform(live, panel, pressed) {
            live.has_taken(conversation_id, message_id, index);
        } else {
            live.toasts.say("That can't be done here any more.");
        }
    });
    let press = Callback::new(move |(index, action): Numbered| {
        if action.style == ActionStyle::Warning {
            // It can't be undone.
            confirm.ask(Question {
                title: action.label.clone(),
                text: "This may not be possible to undo. The model has suggested it: make sure that you want it."
                    .into(),
                button: "Go ahead",
                act: Arc::new(move || perform.run((index, action.clone()))),
            });
        } else {
            perform.run((index, action));
        }
    });
    let numbered: Vec<Numbered> = actions.iter().cloned().enumerate().collect();
    let offers = offers.clone();
    let shown = move || -> Vec<AnyView> {
        numbered
            .iter()
            .filter(|(_, action)| {
                action.handler == ActionHandler::Server || actions::find(&page, &action.action).is_some()
            })
            .map(|(index, action)| button(*index, action, is_taken(&offers, *index), press))
            .collect()
    };
    view! {
        <div class="suggestions actions needs-script" role="group" aria-label="Actions" data-lazy="suggestions">
            {shown}
        </div>
        {confirm.dialog()}
    }
    .erase()
}

/// The server does it: it is what the person says next.
fn send(live: Live, id: ConversationId, action: SuggestedAction) {
    let model = live.view(id).model.get_untracked();
    let interaction = Interaction::ActionExecuted {
        action: action.action,
        data: action.data,
    };
    live.say(Place::Conversation(id), action.label, model, interaction);
    browser::focus_to_go_on();
}

fn is_taken(offers: &ArcRwSignal<Offers>, index: usize) -> Memo<bool> {
    let offers = offers.clone();
    Memo::new(move |_| offers.with(|offers| offers.actions.get(index).is_some_and(|action| action.taken)))
}

fn button(index: usize, action: &SuggestedAction, taken: Memo<bool>, press: Callback<Numbered>) -> AnyView {
    let class = match action.style {
        ActionStyle::Primary => "button button-primary",
        ActionStyle::Secondary => "button",
        ActionStyle::Warning => "button button-warning",
    };
    let warns = action.style == ActionStyle::Warning;
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
            warns.then(icons::alert)
        }
    };
    let done = move || {
        taken
            .get()
            .then(|| view! { <span class="visually-hidden">" (done)"</span> })
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
