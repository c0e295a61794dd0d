//! The transport of server functions: the protocol of a request and the encoding of its response.

use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use server_fn::{
    ContentType, Http, Protocol,
    client::Client,
    codec::{Encoding, FromReq, IntoReq, Post},
    error::FromServerFnError,
    response::ClientRes,
    server::Server,
};

use parlor_protocol::{ApiError, json, server_functions::PageJson};

/// A response as the output of a server function.
pub type PageJsonEncoding = Post<PageJson>;

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
