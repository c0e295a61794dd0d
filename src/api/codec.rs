//! How the page asks, and how answers travel.

use std::{marker::PhantomData, pin::Pin};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use server_fn::{
    ContentType, Decodes, Encodes, Format, FormatType, Http, Protocol,
    client::Client,
    codec::{Encoding, FromReq, IntoReq, Post},
    error::{FromServerFnError, ServerFnErrorErr},
    response::ClientRes,
    server::Server,
};

use crate::protocol::{
    ApiError, ErrorCode,
    error::excerpt,
    json::{self, JsonError},
};

/// JSON that the server writes and only the page reads, with a reader that suits it.
pub struct PageJson;

/// An answer as the output of a server function.
pub type PageJsonEncoding = Post<PageJson>;

impl ContentType for PageJson {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for PageJson {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for PageJson {
    type Error = serde_json::Error;

    fn encode(answer: &T) -> serde_json::Result<Bytes> {
        serde_json::to_vec(answer).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for PageJson {
    type Error = JsonError;

    fn decode(json: Bytes) -> Result<T, JsonError> {
        json::parse(&json)
    }
}

/// [`Http`] with answers as [`Answered`]. What the page does is the same for all functions but for the reading of the answer,
/// and is there once: having it for each of them made the WASM larger.
pub struct PageProtocol<In>(PhantomData<In>);

impl<In, Input, Output, C, S> Protocol<Input, Output, C, S, ApiError> for PageProtocol<In>
where
    In: Encoding,
    Input: IntoReq<In, C::Request, ApiError> + FromReq<In, S::Request, ApiError> + Send,
    Output: Serialize + DeserializeOwned + Send,
    C: Client<ApiError>,
    S: Server<ApiError>,
{
    const METHOD: ::http::Method = In::METHOD;

    fn run_server<F, Fut>(
        request: S::Request,
        function: F,
    ) -> impl Future<Output = Result<S::Response, ApiError>> + Send
    where
        F: Fn(Input) -> Fut + Send,
        Fut: Future<Output = Result<Output, ApiError>> + Send,
    {
        <Http<In, PageJsonEncoding> as Protocol<Input, Output, C, S, ApiError>>::run_server(request, function)
    }

    async fn run_client(path: &str, input: Input) -> Result<Output, ApiError> {
        let answer = fetch_response::<C>(input.into_req(path, PageJson::CONTENT_TYPE)).await?;
        json::parse(&answer).map_err(ApiError::unreadable)
    }
}

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Bytes, ApiError>> + Send>>;

/// Sends a request and waits for the answer, whatever that is about.
fn fetch_response<C: Client<ApiError>>(request: Result<C::Request, ApiError>) -> ResponseFuture {
    Box::pin(async move {
        let response = C::send(request?).await?;
        let failed = response.status() >= 400;
        let body = response.try_into_bytes().await?;
        if failed { Err(ApiError::de(body)) } else { Ok(body) }
    })
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
            // The server could not read a request, or the page an answer.
            ServerFnErrorErr::Deserialization(cause) => Self::unreadable(cause),
            // The cause is for the log, not for the person.
            _ => Self::new(
                ErrorCode::Internal,
                "Something went wrong in Parlor. Its log says what.",
            ),
        }
    }
}
