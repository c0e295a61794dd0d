//! The responses and errors of the functions that the page calls: their encoding, and [`ApiError`] as the error of
//! `server_fn`. The functions are declared beside the views, but only the crate of a type may implement a trait of another crate.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use server_fn::{
    ContentType, Decodes, Encodes, Format, FormatType,
    error::{FromServerFnError, ServerFnErrorErr},
};

use crate::{
    ApiError, ErrorCode,
    error::excerpt,
    json::{self, JsonError},
};

/// The encoding of responses: JSON that the server writes and only the page reads, with the page's small
/// reader.
pub struct PageJson;

impl ContentType for PageJson {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for PageJson {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for PageJson {
    type Error = serde_json::Error;

    fn encode(response: &T) -> serde_json::Result<Bytes> {
        serde_json::to_vec(response).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for PageJson {
    type Error = JsonError;

    fn decode(json: Bytes) -> Result<T, JsonError> {
        json::parse(&json)
    }
}

impl FromServerFnError for ApiError {
    type Encoder = PageJson;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::unreachable(),
            ServerFnErrorErr::Args(cause) | ServerFnErrorErr::MissingArg(cause) => Self::new(
                ErrorCode::BadRequest,
                ["The request could not be read: ", &excerpt(&cause), "."].concat(),
            ),
            // Either the server could not parse a request, or the page could not parse a response.
            ServerFnErrorErr::Deserialization(cause) => Self::unreadable(cause),
            // The cause is for the log, not for the user.
            _ => Self::new(
                ErrorCode::Internal,
                "Something went wrong. Try again. Parlor's log says more.",
            ),
        }
    }
}
