//! What a page is made of before the stream starts: one set of snapshots, read on the server and sent along
//! with the page, so that the browser begins with what the server rendered.

use leptos::server::codee::{Decoder, Encoder};
use serde::{Deserialize, Serialize};

use super::{browser, place::Place};
use crate::{
    api::{ApiError, rpc},
    protocol::{ConversationList, Timestamp, Transcript, chat::ModelList},
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
}

/// How the snapshots travel: as JSON that is read from bytes, like the answers of the server functions, so that the
/// WASM has one reader of JSON and not two.
pub struct PageCodec;

impl Encoder<Page> for PageCodec {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(page: &Page) -> serde_json::Result<String> {
        serde_json::to_string(page)
    }
}

impl Decoder<Page> for PageCodec {
    type Error = serde_json::Error;
    type Encoded = str;

    fn decode(json: &str) -> serde_json::Result<Page> {
        serde_json::from_slice(json.as_bytes())
    }
}

impl Page {
    /// Reads the snapshots.
    pub async fn load(place: Place) -> Self {
        let transcript = async {
            match place.conversation() {
                Some(id) => Some(rpc::conversation(id).await),
                None => None,
            }
        };
        let (list, transcript, models) = futures::join!(rpc::conversations(None), transcript, rpc::models());
        Self {
            now: browser::now(),
            place,
            list,
            transcript,
            models,
        }
    }
}
