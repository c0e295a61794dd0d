//! What a page is made of before the stream starts: one set of snapshots, read on the server and sent along
//! with the page, so that the browser begins with what the server rendered.

use leptos::server::codee::{Decoder, Encoder};
use serde::{Deserialize, Serialize};

use super::{
    browser,
    place::{self, Place},
};
use crate::{
    api::{ApiError, rpc},
    protocol::{
        ConversationId, ConversationList, IntentId, Json, MessageId, Timestamp, Transcript,
        chat::ModelList,
        json::{self, Unreadable},
    },
};

/// The snapshots of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page {
    /// The server's clock: what "today" is until the browser's own is known.
    pub now: Timestamp,
    pub place: Place,
    pub list: Result<ConversationList, ApiError>,
    /// The conversation that the address names.
    pub transcript: Option<Result<Transcript, ApiError>>,
    pub models: Result<ModelList, ApiError>,
    /// What the page *Literature* shows, if the address is one of it. It is read by those who show it.
    pub opened: Option<Json>,
    /// What the settings page shows, if the address names it. Nothing else reads it: what few people need is taken apart there.
    pub personal: Option<Json>,
    pub form: FormIds,
}

/// The ids of what is sent with the plain form, without scripts: pressed twice, it is there once. They are made with
/// the page, on the server; the browser finds them in it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FormIds {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// The conversation begins with the message.
    pub begins: bool,
}

impl FormIds {
    fn new(place: Place) -> Self {
        Self {
            intent_id: IntentId::new(),
            conversation_id: place.conversation().unwrap_or_default(),
            message_id: MessageId::new(),
            begins: place.conversation().is_none(),
        }
    }
}

/// How the snapshots travel: as the answers of the server functions do.
pub struct PageCodec;

impl Encoder<Page> for PageCodec {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(page: &Page) -> serde_json::Result<String> {
        serde_json::to_string(page)
    }
}

impl Decoder<Page> for PageCodec {
    type Error = Unreadable;
    type Encoded = str;

    fn decode(json: &str) -> Result<Page, Unreadable> {
        json::read(json.as_bytes())
    }
}

impl Page {
    /// Reads the snapshots of an address. If it names a message, the conversation goes back to the page before that.
    pub async fn load(address: String) -> Self {
        let (place, before) = (Place::of(&address), place::before(&address));
        let transcript = async {
            match place.conversation() {
                Some(id) => Some(conversation(id, before).await),
                None => None,
            }
        };
        let opened = async {
            match place {
                // What it can't be told now it asks for itself.
                Place::Literature => rpc::open_literature(address).await.ok(),
                _ => None,
            }
        };
        let (list, transcript, models, opened) =
            futures::join!(rpc::conversations(None), transcript, rpc::models(), opened);
        // After the list: the stream goes on from there, and says what changed since.
        let personal = match place {
            Place::Settings => browser::personal().await,
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
async fn conversation(id: ConversationId, before: Option<MessageId>) -> Result<Transcript, ApiError> {
    let mut transcript = rpc::conversation(id, before).await?;
    if let Some(before) = before.filter(|before| transcript.earliest == Some(*before)) {
        transcript.prepend(rpc::older_messages(id, before).await?);
    }
    Ok(transcript)
}
