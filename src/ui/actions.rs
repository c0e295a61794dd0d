//! What this page does when an action that the model suggests is pressed.
//!
//! Every page does a few things ([`of_everywhere`]). A page that does more registers that by name ([`Action`]); the server knows the
//! same names (`pages::actions`). What nobody does is not shown.

use leptos::prelude::*;

use super::{browser, live::Live, own::PageOwn, panel::Panel, place::Place};
use crate::protocol::{AssistantMessage, ConversationId, Message, MessageId, PayloadRef, Transcript, json};

/// An action that was pressed.
#[derive(Clone, Debug)]
pub struct Pressed {
    pub conversation_id: ConversationId,
    /// The answer that suggests it.
    pub message_id: MessageId,
    /// What goes with it, as JSON text.
    pub data: Option<String>,
}

/// Does an action; false if it can't be done any more.
pub type Perform = Callback<Pressed, bool>;

/// An action that the page that is shown performs, besides those of every page. A page registers its own with
/// `use_page().actions.add(…)`.
#[derive(Clone, Copy)]
pub struct Action {
    pub name: &'static str,
    pub perform: Perform,
}

/// What does an action: the page, or else every page.
pub fn find(page: &PageOwn, name: &str) -> Option<Performer> {
    match page.actions.find(|action| action.name == name) {
        Some(action) => Some(Performer::Page(action.perform)),
        None => of_everywhere(name).map(Performer::Everywhere),
    }
}

/// Who does an action.
#[derive(Clone, Copy)]
pub enum Performer {
    Page(Perform),
    Everywhere(fn(Live, Panel, &Pressed) -> bool),
}

impl Performer {
    /// Does it; false if it can't be done any more.
    pub fn perform(self, live: Live, panel: Panel, pressed: Pressed) -> bool {
        match self {
            Self::Page(perform) => perform.run(pressed),
            Self::Everywhere(perform) => perform(live, panel, &pressed),
        }
    }
}

fn of_everywhere(name: &str) -> Option<fn(Live, Panel, &Pressed) -> bool> {
    match name {
        "close_chat" => Some(|live, _, _| {
            // Pages beside which one talks in the tray do something else: they close that.
            live.go(Place::New);
            true
        }),
        "new_conversation" => Some(|live, _, _| {
            live.go(Place::New);
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
                live.toasts.say(if done {
                    "Copied."
                } else {
                    "This browser does not let the page copy. Select the text instead."
                });
            });
            can
        }),
        "open_payload" => Some(|live, panel, pressed| {
            let payload = pressed.data.as_deref().and_then(payload_id).and_then(|id| {
                let made = |transcript: &Transcript| made(transcript, &id);
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
    struct Data {
        payload_id: String,
    }
    json::read::<Data>(data.as_bytes())
        .ok()
        .map(|data| data.payload_id)
}

/// What was made for the panel under an id.
fn made(transcript: &Transcript, id: &str) -> Option<PayloadRef> {
    let answers = transcript.messages.iter().filter_map(Message::assistant);
    let mut payloads = answers.flat_map(AssistantMessage::payloads);
    payloads.find(|payload| payload.payload_id == id).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::actions::EVERYWHERE;

    #[test]
    fn every_page_does_what_the_server_says_that_it_does() {
        for action in EVERYWHERE {
            assert!(of_everywhere(action.name).is_some(), "{}", action.name);
        }
        assert!(of_everywhere("delete_everything").is_none());
    }

    #[test]
    fn what_a_page_does_comes_before_what_every_page_does() {
        let owner = Owner::new();
        owner.set();
        let page = PageOwn::new();
        let is_of_page = |name| find(&page, name).map(|performer| matches!(performer, Performer::Page(_)));
        assert_eq!(
            (is_of_page("new_conversation"), is_of_page("save")),
            (Some(false), None)
        );
        for name in ["new_conversation", "save"] {
            let perform = Callback::new(|_| true);
            page.actions.add(Action { name, perform });
        }
        assert_eq!(
            (is_of_page("new_conversation"), is_of_page("save")),
            (Some(true), Some(true))
        );
    }

    #[test]
    fn an_id_is_found_in_data_and_nothing_else_is() {
        assert_eq!(
            payload_id(r#"{"payload_id":"abc12345","x":[1]}"#).as_deref(),
            Some("abc12345")
        );
        for odd in ["", "[]", "{}", r#""abc12345""#, r#"{"payload_id":1}"#] {
            assert_eq!(payload_id(odd), None, "{odd}");
        }
    }
}
