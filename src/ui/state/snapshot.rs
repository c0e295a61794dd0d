//! What a page is made of before the stream starts: one set of snapshots, read on the server and sent along
//! with the page, so that the browser begins with what the server rendered.

use leptos::server::codee::{Decoder, Encoder};
use serde::{Deserialize, Serialize};

use crate::ui::{browser, state::route, state::route::Route};
use crate::{
    api::rpc,
    protocol::{
        ApiError, ConversationId, ConversationList, IntentId, MessageId, RawJson, Timestamp, Transcript,
        json::{self, JsonError},
        model_list::ModelList,
    },
};

/// The snapshots of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageSnapshot {
    /// The server's clock: what "today" is until the browser's own is known.
    pub now: Timestamp,
    pub place: Route,
    pub list: Result<ConversationList, ApiError>,
    /// The conversation that the address names.
    pub transcript: Option<Result<Transcript, ApiError>>,
    pub models: Result<ModelList, ApiError>,
    /// What the page *Literature* shows, if the address is one of it. It is read by those who show it.
    pub opened: Option<RawJson>,
    /// What the settings page shows, if the address names it. Nothing else reads it: what few people need is taken apart there.
    pub personal: Option<RawJson>,
    pub form: FormIds,
}

/// The ids of what is sent with the plain form, without scripts: pressed twice, it is there once. They are made with
/// the page, on the server; the browser finds them in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormIds {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// The conversation begins with the message.
    pub begins: bool,
}

impl FormIds {
    fn new(place: Route) -> Self {
        Self {
            intent_id: IntentId::new(),
            conversation_id: place.conversation_id().unwrap_or_default(),
            message_id: MessageId::new(),
            begins: place.conversation_id().is_none(),
        }
    }
}

/// Serialises the snapshots of a page: JSON, with another character in place of each `<`.
///
/// Leptos writes the data into a script and replaces each `<` by `\u003c` there. A JSON string reads back the same, but JSON that is
/// kept as text ([`Json`]) does not: it came out longer than it went in. With no `<` in the data, Leptos changes nothing.
pub struct PageCodec;

/// Stands for `<` in the encoded data. JSON has no unescaped control characters, so nothing else is ever taken for it.
const LESS_THAN_SUBSTITUTE: &str = "\u{1}";

impl Encoder<PageSnapshot> for PageCodec {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(page: &PageSnapshot) -> serde_json::Result<String> {
        Ok(serde_json::to_string(page)?.replace('<', LESS_THAN_SUBSTITUTE))
    }
}

impl Decoder<PageSnapshot> for PageCodec {
    type Error = JsonError;
    type Encoded = str;

    fn decode(encoded: &str) -> Result<PageSnapshot, JsonError> {
        json::parse(encoded.replace(LESS_THAN_SUBSTITUTE, "<").as_bytes())
    }
}

impl PageSnapshot {
    /// Reads the snapshots of an address. If it names a message, the conversation goes back to the page before that.
    pub async fn load(address: String) -> Self {
        let (place, before) = (Route::parse(&address), route::before_message(&address));
        let transcript = async {
            match place.conversation_id() {
                Some(id) => Some(load_conversation(id, before).await),
                None => None,
            }
        };
        let opened = async {
            match place {
                // What it can't be told now it asks for itself.
                Route::Literature => rpc::open_literature(address).await.ok(),
                _ => None,
            }
        };
        let (list, transcript, models, opened) =
            futures::join!(rpc::conversations(None), transcript, rpc::models(), opened);
        // After the list: the stream goes on from there, and says what changed since.
        let personal = match place {
            Route::Settings => browser::load_personal().await,
            _ => None,
        };
        Self {
            now: browser::now(),
            place,
            list,
            transcript,
            models,
            opened,
            personal,
            form: FormIds::new(place),
        }
    }
}

/// A conversation's newest messages, and those that the address asks for.
async fn load_conversation(id: ConversationId, before: Option<MessageId>) -> Result<Transcript, ApiError> {
    let mut transcript = rpc::conversation(id, before).await?;
    if let Some(before) = before.filter(|before| transcript.earliest == Some(*before)) {
        transcript.prepend(rpc::older_messages(id, before).await?);
    }
    Ok(transcript)
}
