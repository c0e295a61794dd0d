//! What a page is made of before the stream starts: one set of snapshots, read on the server and sent along
//! with the page, so that the browser begins with what the server rendered.

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
