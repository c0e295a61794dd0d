//! A connection to an MCP server: requests and notifications.

use std::{error::Error, time::Duration};

use rmcp::{
    ClientCacheConfig, ClientLifecycleMode, Peer, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CallToolResult, ClientRequest, ErrorCode, JsonObject, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams, Request, ResourceContents,
        ServerResult, SubscriptionFilter, Tool,
    },
    service::{PeerRequestOptions, RequestHandle, Subscription, serve_client_with_lifecycle_and_ct},
    transport::IntoTransport,
};
use tokio::{runtime::Handle, time::timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    client::McpClient,
    listed::MAX_TOOLS,
    open_error::{OpenError, innermost_cause, is_connecting},
};
use crate::ProgressReporter;

/// Maximum number of pages read of a tool list.
const MAX_TOOL_PAGES: usize = 20;

/// The time limit for closing a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The way in which a connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Tries discovery, as in newer servers, then the handshake.
    DiscoverOrHandshake,
    /// Uses the handshake, which all older servers support.
    HandshakeOnly,
}

/// The result of a call, and the questions to the user that were declined during it.
pub struct CallResponse {
    pub outcome: Result<CallToolResult, CallError>,
    pub declined: Vec<String>,
}

/// A call without a result.
#[derive(Debug)]
pub struct CallError {
    /// The message for the model.
    pub message: String,
    /// True if the server supports no such calls of this tool.
    pub is_unsupported: bool,
}

impl CallError {
    fn other(why: &str) -> Self {
        Self {
            message: why.to_owned(),
            is_unsupported: false,
        }
    }
}

/// An initialised connection to a server. It is closed when this is dropped.
pub struct McpConnection {
    peer: Peer<RoleClient>,
    client: McpClient,
    /// The subscription through which newer servers report that their tools have changed.
    subscription: tokio::sync::Mutex<Option<Subscription>>,
    /// Cancelled when the connection has ended.
    ended: CancellationToken,
    cancel: CancellationToken,
    _ends: DropGuard,
}

impl McpConnection {
    /// Opens and initialises a connection.
    ///
    /// # Errors
    ///
    /// If the server does not complete the initialisation.
    pub async fn open<T, E, A>(transport: T, opening: OpenMode) -> Result<Self, OpenError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let client = McpClient::default();
        let (end, ended) = (CancellationToken::new(), CancellationToken::new());
        let lifecycle = match opening {
            OpenMode::DiscoverOrHandshake => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            OpenMode::HandshakeOnly => ClientLifecycleMode::Initialize,
        };
        let service = serve_client_with_lifecycle_and_ct(client.clone(), transport, lifecycle, end.clone());
        let service = service.await.map_err(|error| {
            let has_discovery = opening == OpenMode::DiscoverOrHandshake;
            OpenError::new(&error, has_discovery)
        })?;
        let peer = service.peer().clone();
        // Responses must be current, so no cache.
        peer.set_response_cache_config(ClientCacheConfig::disabled())
            .await;
        tokio::spawn({
            let ended = ended.clone().drop_guard();
            async move {
                let _ended = ended;
                service.waiting().await
            }
        });
        Ok(Self {
            peer,
            client,
            subscription: Default::default(),
            ended,
            _ends: end.clone().drop_guard(),
            cancel: end,
        })
    }

    /// Waits until the connection has ended.
    pub async fn wait_until_lost(&self) {
        self.ended.cancelled().await;
    }

    pub async fn close(&self) {
        self.cancel.cancel();
        if timeout(CLOSE_TIMEOUT, self.ended.cancelled()).await.is_err() {
            tracing::debug!("an MCP server does not close its connection");
        }
    }

    /// Returns the server's instructions for its tools.
    pub fn instructions(&self) -> Option<String> {
        self.peer.peer_info()?.instructions.clone()
    }

    /// Returns `true` if the connection began with the handshake, in the end.
    pub fn has_handshake(&self) -> bool {
        let server = self.peer.peer_info();
        server.is_some_and(|server| server.protocol_version.has_initialize())
    }

    /// Returns `true` if the server says that it has resources.
    pub fn has_resources(&self) -> bool {
        let server = self.peer.peer_info();
        server.is_some_and(|server| server.capabilities.resources.is_some())
    }

    /// Lists the tools, up to the limit. [`Self::wait_for_tool_change`] reports later changes.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, String> {
        self.subscribe().await;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_TOOL_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer.list_tools(Some(page)).await;
            let page =
                page.map_err(|error| format!("it does not list its tools: {}", innermost_cause(&error)))?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > MAX_TOOLS {
                break;
            }
        }
        Ok(tools)
    }

    /// Waits until the tools should be listed again.
    pub async fn wait_for_tool_change(&self) {
        let mut subscription = self.subscription.lock().await;
        let changed = async {
            match subscription.as_mut() {
                Some(open) => open.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.client.tools_changed.notified() => {}
            changed = changed => if !matches!(changed, Ok(Some(_))) {
                *subscription = None;
            }
        }
    }

    /// Subscribes to changes of the tool list: since version 2026-07-28 a server notifies
    /// subscribers only.
    async fn subscribe(&self) {
        let is_newer = self.peer.peer_info().is_some_and(|server| {
            let tools = server.capabilities.tools.as_ref();
            !server.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        });
        let mut subscription = self.subscription.lock().await;
        if is_newer && subscription.is_none() {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            match self.peer.listen(filter).await {
                Ok(open) => *subscription = Some(open),
                Err(error) => tracing::debug!(%error, "an MCP server does not report changes of its tools"),
            }
        }
    }

    /// Calls a tool. If this is dropped before the response, the server is notified.
    pub async fn call_tool(
        &self,
        tool: String,
        arguments: JsonObject,
        progress: ProgressReporter,
    ) -> CallResponse {
        let mut declined = Vec::new();
        let outcome = self.send_call(tool, arguments, progress, &mut declined).await;
        CallResponse { outcome, declined }
    }

    async fn send_call(
        &self,
        tool: String,
        arguments: JsonObject,
        progress: ProgressReporter,
        declined: &mut Vec<String>,
    ) -> Result<CallToolResult, CallError> {
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let call = ClientRequest::CallToolRequest(Request::new(call));
        match self.send(call, progress, declined).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::InputRequiredResult(_) => Err(CallError::other(
                "The tool asks the person for more input, and Parlor can't ask for it: the call was given up.",
            )),
            _ => Err(CallError::other("The server gave something else than a result.")),
        }
    }

    /// Reads a resource. If this is dropped before the response, the server is notified.
    pub async fn read_resource(
        &self,
        uri: &str,
        progress: ProgressReporter,
    ) -> Result<Vec<ResourceContents>, CallError> {
        let read = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let read = ClientRequest::ReadResourceRequest(read);
        match self.send(read, progress, &mut Vec::new()).await? {
            ServerResult::ReadResourceResult(result) => Ok(result.contents),
            _ => Err(CallError::other(
                "The server gave something else than the contents of a resource.",
            )),
        }
    }

    async fn send(
        &self,
        request: ClientRequest,
        progress: ProgressReporter,
        declined: &mut Vec<String>,
    ) -> Result<ServerResult, CallError> {
        let sent = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let handle = sent.await.map_err(|error| self.call_error(error))?;
        self.client.listen(handle.progress_token.clone(), progress);
        let pending = PendingCall {
            client: &self.client,
            handle: Some(handle),
        };
        let response = pending.response(declined).await;
        response.map_err(|error| self.call_error(error))
    }

    fn call_error(&self, error: ServiceError) -> CallError {
        CallError {
            is_unsupported: matches!(&error, ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND),
            message: self.describe_error(error),
        }
    }

    fn describe_error(&self, error: ServiceError) -> String {
        match error {
            ServiceError::McpError(error) => error.message.into_owned(),
            ServiceError::TransportSend(error) => {
                // Listing the tools shows whether the server still responds.
                self.client.tools_changed.notify_one();
                let why = innermost_cause(&error);
                if is_connecting(&error) {
                    format!("The call did not reach the server: {why}.")
                } else {
                    format!("The server did not respond: {why}. Whether the call had an effect is not known.")
                }
            }
            _ => "The connection to the server was lost. Whether the call had an effect is not known.".into(),
        }
    }
}

/// A call that waits for its response.
struct PendingCall<'a> {
    client: &'a McpClient,
    handle: Option<RequestHandle<RoleClient>>,
}

impl PendingCall<'_> {
    async fn response(mut self, declined: &mut Vec<String>) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else {
            return Err(ServiceError::UnexpectedResponse);
        };
        let response = (&mut handle.rx)
            .await
            .unwrap_or(Err(ServiceError::TransportClosed));
        *declined = self.client.forget(&handle.progress_token);
        self.handle = None;
        response
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.handle.take() else { return };
        self.client.forget(&handle.progress_token);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(handle.cancel(Some("The call was stopped.".into())));
        }
    }
}
