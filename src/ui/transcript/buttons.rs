//! The actions that an answer suggests, as buttons. The code comes with that of the other things that an answer offers.

use leptos::{html, prelude::*};

use crate::{
    protocol::{ActionHandler, ActionStyle, ConversationId, Interaction, MessageId, SuggestedAction},
    ui::{
        actions::{self, Pressed},
        browser,
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
    // What can't be undone is asked about first.
    let asked = RwSignal::new(None::<Numbered>);
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
            asked.set(Some((index, action)));
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
        {confirmation(asked, perform)}
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

/// Asks before something that can't be undone. The browser puts the focus back when the dialog closes.
fn confirmation(asked: RwSignal<Option<Numbered>>, perform: Callback<Numbered>) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let (Some(dialog), true) = (dialog.get(), asked.with(Option::is_some)) {
            browser::show_modal(&dialog);
        }
    });
    let label = move || asked.with(|asked| asked.as_ref().map(|(_, action)| action.label.clone()));
    let confirmed = StoredValue::new(false);
    let closed = move |_| {
        let action = asked.get_untracked();
        asked.set(None);
        // Only once the focus is back: what is done may move it.
        if let (true, Some(action)) = (confirmed.get_value(), action) {
            confirmed.set_value(false);
            perform.run(action);
        }
    };
    view! {
        <dialog node_ref=dialog class="dialog" aria-label="Confirm the action" on:close=closed>
            <form method="dialog">
                <h2 dir="auto">{label}</h2>
                <p>"This may not be possible to undo. The model has suggested it: make sure that you want it."</p>
                <div class="dialog-actions">
                    <button class="button" autofocus>"Cancel"</button>
                    <button class="button button-danger" on:click=move |_| confirmed.set_value(true)>
                        "Go ahead"
                    </button>
                </div>
            </form>
        </dialog>
    }
    .erase()
}
