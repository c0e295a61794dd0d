//! How answers travel.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use server_fn::{ContentType, Decodes, Encodes, Format, FormatType, codec::Post};

use crate::protocol::json::{self, Unreadable};

/// JSON that the server writes and only the page reads, with a reader that suits it.
pub struct Answer;

/// An answer as the output of a server function.
pub type Answered = Post<Answer>;

impl ContentType for Answer {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for Answer {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for Answer {
    type Error = serde_json::Error;

    fn encode(answer: &T) -> serde_json::Result<Bytes> {
        serde_json::to_vec(answer).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Answer {
    type Error = Unreadable;

    fn decode(json: Bytes) -> Result<T, Unreadable> {
        json::read(&json)
    }
}
