//! The page's performers of the actions that a model suggests. The server knows the same names (`pages::actions`). An action
//! without a performer is not shown.

use leptos::prelude::*;
use serde::Deserialize;

use crate::{
    browser,
    components::{copy::announce_copy, toast::Toasts},
    panel::Panel,
    state::{Navigation, OpenConversations, route::Route},
};
use parlor_protocol::{AssistantMessage, ConversationId, Message, MessageId, PayloadRef, Transcript, json};

/// An action that was pressed.
#[derive(Clone, Debug)]
pub struct PressedAction {
    pub conversation_id: ConversationId,
    /// The answer that suggests it.
    pub message_id: MessageId,
    /// The action's data as JSON text.
    pub data: Option<String>,
}

/// The stores that the actions use.
#[derive(Clone, Copy)]
pub struct ActionStores {
    pub conversations: OpenConversations,
    pub navigation: Navigation,
    pub panel: Panel,
    pub toasts: Toasts,
}

/// Performs an action. Returns false if it is no longer possible.
pub type Performer = fn(ActionStores, &PressedAction) -> bool;

/// Returns the performer of an action.
pub fn find_performer(name: &str) -> Option<Performer> {
    match name {
        "close_chat" => Some(|stores, _| {
            let navigation = stores.navigation;
            match navigation.page_route().get_untracked().has_tray() {
                true => navigation.tray().close(),
                false => navigation.go_to(Route::New),
            }
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
        "open" => Some(open),
        _ => None,
    }
}

/// The data of an action that opens something: a payload, or the URL that the server has found for what the model named.
#[derive(Default, Deserialize, PartialEq, Debug)]
#[serde(default)]
struct OpeningData {
    payload_id: Option<String>,
    url: Option<String>,
}

impl OpeningData {
    /// Parses an action's data; other fields are ignored.
    fn parse(data: Option<&str>) -> Self {
        json::parse(data.unwrap_or_default().as_bytes()).unwrap_or_default()
    }
}

fn open(stores: ActionStores, pressed: &PressedAction) -> bool {
    let OpeningData { payload_id, url } = OpeningData::parse(pressed.data.as_deref());
    if let Some(id) = payload_id {
        let made = |transcript: &Transcript| find_payload(transcript, &id);
        let payload = stores
            .conversations
            .with_transcript(pressed.conversation_id, made)
            .flatten();
        return payload.map(|payload| stores.panel.open(payload)).is_some();
    }
    url.is_some_and(|url| stores.navigation.open_page(url))
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
    use parlor_pages::actions::CLIENT_ACTIONS;

    #[test]
    fn implements_every_action() {
        for action in CLIENT_ACTIONS {
            assert!(find_performer(action).is_some(), "{action}");
        }
        assert!(find_performer("delete_everything").is_none());
    }

    #[test]
    fn reads_only_what_is_to_be_opened() {
        let read = |data: &str| {
            let data = OpeningData::parse(Some(data));
            (data.payload_id, data.url)
        };
        let id = r#"{"payload_id":"abc12345","x":[1]}"#;
        assert_eq!(read(id), (Some("abc12345".into()), None));
        let url = r#"{"page":"desk","drawer":1,"url":"/desk/1"}"#;
        assert_eq!(read(url), (None, Some("/desk/1".into())));
        for odd in ["", "[]", "{}", r#""abc12345""#, r#"{"payload_id":1}"#] {
            assert_eq!(read(odd), (None, None), "{odd}");
        }
    }
}
