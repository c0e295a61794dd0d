//! How the page asks, and how answers travel.

use std::{marker::PhantomData, pin::Pin};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use server_fn::{
    ContentType, Decodes, Encodes, Format, FormatType, Http, Protocol,
    client::Client,
    codec::{Encoding, FromReq, IntoReq, Post},
    error::FromServerFnError,
    response::ClientRes,
    server::Server,
};

use super::ApiError;
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

/// [`Http`] with answers as [`Answered`]. What the page does is the same for all functions but for the reading of the answer,
/// and is there once: having it for each of them made the WASM larger.
pub struct Ask<In>(PhantomData<In>);

impl<In, Input, Output, C, S> Protocol<Input, Output, C, S, ApiError> for Ask<In>
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
        <Http<In, Answered> as Protocol<Input, Output, C, S, ApiError>>::run_server(request, function)
    }

    async fn run_client(path: &str, input: Input) -> Result<Output, ApiError> {
        let answer = ask::<C>(input.into_req(path, Answer::CONTENT_TYPE)).await?;
        json::read(&answer).map_err(ApiError::unreadable)
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<Bytes, ApiError>> + Send>>;

/// Sends a request and waits for the answer, whatever that is about.
fn ask<C: Client<ApiError>>(request: Result<C::Request, ApiError>) -> Asking {
    Box::pin(async move {
        let response = C::send(request?).await?;
        let failed = response.status() >= 400;
        let body = response.try_into_bytes().await?;
        if failed { Err(ApiError::de(body)) } else { Ok(body) }
    })
}
