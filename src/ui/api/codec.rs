//! The transport of server functions: the protocol of a request and the encoding of its response.

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

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

/// The encoding of responses: JSON that the server writes and only the page reads, with the page's small
/// reader.
pub struct PageJson;

/// A response as the output of a server function.
pub type PageJsonEncoding = Post<PageJson>;

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

/// [`Http`] with [`PageJson`] responses. The client's part is the same for all functions except for the
/// parsing of the response, so `fetch_response` exists once: one copy for each function made the WASM larger.
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

    fn run_client(path: &str, input: Input) -> impl Future<Output = Result<Output, ApiError>> + Send {
        RpcFuture {
            response: fetch_response::<C>(input.into_req(path, PageJson::CONTENT_TYPE)),
            output: PhantomData,
        }
    }
}

/// A call of a server function: smaller than an async function for each of them.
struct RpcFuture<Output> {
    response: ResponseFuture,
    output: PhantomData<fn() -> Output>,
}

impl<Output: DeserializeOwned> Future for RpcFuture<Output> {
    type Output = Result<Output, ApiError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let parse = |response: Bytes| json::parse(&response).map_err(ApiError::unreadable);
        self.response
            .as_mut()
            .poll(context)
            .map(|response| response.and_then(parse))
    }
}

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Bytes, ApiError>> + Send>>;

/// Sends a request and waits for the response. Not generic over the type of the response, so that it is
/// compiled once.
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
