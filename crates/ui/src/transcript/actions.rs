//! The page's performers of the actions that a model suggests.
//!
//! Every page performs a few actions ([`common_action`]). A page with more registers them by name
//! ([`PageAction`](crate::state::page_registry::PageAction)); the
//! server knows the same names (`pages::actions`). An action without a performer is not shown.

use leptos::prelude::*;

use crate::{
    browser,
    components::{copy::announce_copy, toast::Toasts},
    panel::Panel,
    state::{
        Navigation, OpenConversations,
        page_registry::{ActionCallback, PageRegistry, PressedAction},
        route::Route,
    },
};
use parlor_protocol::{AssistantMessage, Message, PayloadRef, Transcript, json};

/// The performer of an action: the page's own, or else the common one.
pub fn find_performer(page: &PageRegistry, name: &str) -> Option<Performer> {
    match page.actions.find(|action| action.name == name) {
        Some(action) => Some(Performer::Page(action.perform)),
        None => common_action(name).map(Performer::Common),
    }
}

/// The performer of an action.
#[derive(Clone, Copy)]
pub enum Performer {
    Page(ActionCallback),
    Common(fn(ActionStores, &PressedAction) -> bool),
}

/// The stores that the common actions use.
#[derive(Clone, Copy)]
pub struct ActionStores {
    pub conversations: OpenConversations,
    pub navigation: Navigation,
    pub panel: Panel,
    pub toasts: Toasts,
}

impl Performer {
    /// Performs the action. Returns false if it is no longer possible.
    pub fn perform(self, stores: ActionStores, pressed: PressedAction) -> bool {
        match self {
            Self::Page(perform) => perform.run(pressed),
            Self::Common(perform) => perform(stores, &pressed),
        }
    }
}

fn common_action(name: &str) -> Option<fn(ActionStores, &PressedAction) -> bool> {
    match name {
        "close_chat" => Some(|stores, _| {
            // Pages with a tray do something else then: they close it.
            stores.navigation.go_to(Route::New);
            true
        }),
        "new_conversation" => Some(|stores, _| {
            stores.navigation.go_to(Route::New);
            browser::focus_selector("#message");
            true
        }),
        "copy_answer" => Some(|stores, pressed| {
            let conversations = stores.conversations;
            let text = conversations.answer_text(pressed.conversation_id, pressed.message_id);
            let can = text.is_some();
            browser::copy_text(text.unwrap_or_default(), move |done| {
                announce_copy(stores.toasts, done);
            });
            can
        }),
        "open_payload" => Some(|stores, pressed| {
            let payload = pressed.data.as_deref().and_then(payload_id).and_then(|id| {
                let made = |transcript: &Transcript| find_payload(transcript, &id);
                stores
                    .conversations
                    .with_transcript(pressed.conversation_id, made)
                    .flatten()
            });
            let can = payload.is_some();
            if let Some(payload) = payload {
                stores.panel.open(payload);
            }
            can
        }),
        _ => None,
    }
}

/// Parses `{"payload_id": "…"}`; other fields are ignored.
fn payload_id(data: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct PayloadAction {
        payload_id: String,
    }
    json::parse::<PayloadAction>(data.as_bytes())
        .ok()
        .map(|data| data.payload_id)
}

/// The panel payload with the given id.
fn find_payload(transcript: &Transcript, id: &str) -> Option<PayloadRef> {
    let answers = transcript.messages.iter().filter_map(Message::assistant);
    let mut payloads = answers.flat_map(AssistantMessage::payloads);
    payloads.find(|payload| payload.payload_id == id).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pages::PAGES, state::page_registry::PageAction};
    use parlor_pages::actions::COMMON_ACTIONS;

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
        let page = PageRegistry::new(PAGES);
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
