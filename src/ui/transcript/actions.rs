//! What this page does when an action that the model suggests is pressed.
//!
//! Every page does a few things ([`of_everywhere`]). A page that does more registers that by name ([`Action`]); the server knows the
//! same names (`pages::actions`). What nobody does is not shown.

use leptos::prelude::*;

use crate::protocol::{AssistantMessage, ConversationId, Message, MessageId, PayloadRef, Transcript, json};
use crate::ui::{
    browser, panel::Panel, state::Live, state::page_registry::PageRegistry, state::route::Route,
};

/// An action that was pressed.
#[derive(Clone, Debug)]
pub struct PressedAction {
    pub conversation_id: ConversationId,
    /// The answer that suggests it.
    pub message_id: MessageId,
    /// What goes with it, as JSON text.
    pub data: Option<String>,
}

/// Does an action; false if it can't be done any more.
pub type ActionCallback = Callback<PressedAction, bool>;

/// An action that the page that is shown performs, besides those of every page. A page registers its own with
/// `use_page().actions.add(…)`.
#[derive(Clone, Copy)]
pub struct PageAction {
    pub name: &'static str,
    pub perform: ActionCallback,
}

/// What does an action: the page, or else every page.
pub fn find_performer(page: &PageRegistry, name: &str) -> Option<Performer> {
    match page.actions.find(|action| action.name == name) {
        Some(action) => Some(Performer::Page(action.perform)),
        None => common_action(name).map(Performer::Common),
    }
}

/// Who does an action.
#[derive(Clone, Copy)]
pub enum Performer {
    Page(ActionCallback),
    Common(fn(Live, Panel, &PressedAction) -> bool),
}

impl Performer {
    /// Does it; false if it can't be done any more.
    pub fn perform(self, live: Live, panel: Panel, pressed: PressedAction) -> bool {
        match self {
            Self::Page(perform) => perform.run(pressed),
            Self::Common(perform) => perform(live, panel, &pressed),
        }
    }
}

fn common_action(name: &str) -> Option<fn(Live, Panel, &PressedAction) -> bool> {
    match name {
        "close_chat" => Some(|live, _, _| {
            // Pages beside which one talks in the tray do something else: they close that.
            live.go_to(Route::New);
            true
        }),
        "new_conversation" => Some(|live, _, _| {
            live.go_to(Route::New);
            browser::focus_selector("#message");
            true
        }),
        "copy_answer" => Some(|live, _, pressed| {
            let id = pressed.message_id;
            let text = |transcript: &Transcript| {
                let answer = transcript.message(id).and_then(Message::assistant);
                answer.map(AssistantMessage::text)
            };
            let text = live.with_transcript(pressed.conversation_id, text).flatten();
            let can = text.is_some();
            browser::copy_text(text.unwrap_or_default(), move |done| {
                live.toasts.show(if done {
                    "Copied."
                } else {
                    "This browser does not let the page copy. Select the text instead."
                });
            });
            can
        }),
        "open_payload" => Some(|live, panel, pressed| {
            let payload = pressed.data.as_deref().and_then(payload_id).and_then(|id| {
                let made = |transcript: &Transcript| find_payload(transcript, &id);
                live.with_transcript(pressed.conversation_id, made).flatten()
            });
            let can = payload.is_some();
            if let Some(payload) = payload {
                panel.open(payload);
            }
            can
        }),
        _ => None,
    }
}

/// `{"payload_id": "…"}`, whatever else is there.
fn payload_id(data: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct PayloadAction {
        payload_id: String,
    }
    json::parse::<PayloadAction>(data.as_bytes())
        .ok()
        .map(|data| data.payload_id)
}

/// What was made for the panel under an id.
fn find_payload(transcript: &Transcript, id: &str) -> Option<PayloadRef> {
    let answers = transcript.messages.iter().filter_map(Message::assistant);
    let mut payloads = answers.flat_map(AssistantMessage::payloads);
    payloads.find(|payload| payload.payload_id == id).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::actions::COMMON_ACTIONS;

    #[test]
    fn implements_every_common_action() {
        for action in COMMON_ACTIONS {
            assert!(common_action(action.name).is_some(), "{}", action.name);
        }
        assert!(common_action("delete_everything").is_none());
    }

    #[test]
    fn page_action_overrides_common_action() {
        let owner = Owner::new();
        owner.set();
        let page = PageRegistry::new();
        let is_of_page =
            |name| find_performer(&page, name).map(|performer| matches!(performer, Performer::Page(_)));
        assert_eq!(
            (is_of_page("new_conversation"), is_of_page("save")),
            (Some(false), None)
        );
        for name in ["new_conversation", "save"] {
            let perform = Callback::new(|_| true);
            page.actions.register(PageAction { name, perform });
        }
        assert_eq!(
            (is_of_page("new_conversation"), is_of_page("save")),
            (Some(true), Some(true))
        );
    }

    #[test]
    fn reads_only_the_payload_id() {
        assert_eq!(
            payload_id(r#"{"payload_id":"abc12345","x":[1]}"#).as_deref(),
            Some("abc12345")
        );
        for odd in ["", "[]", "{}", r#""abc12345""#, r#"{"payload_id":1}"#] {
            assert_eq!(payload_id(odd), None, "{odd}");
        }
    }
}
