//! A minimal HTTP client: one connection per request, so that no request waits for another one here.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    task::JoinHandle,
};

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A client of Parlor.
#[derive(Clone, Debug)]
pub struct Client {
    /// `127.0.0.1:12345`
    authority: String,
    /// The user whom it names as a proxy would.
    user: Option<Arc<str>>,
}

/// A response whose body is still arriving. Dropping it closes the connection.
pub struct StreamingResponse {
    pub status: StatusCode,
    pub encoding: Option<String>,
    body: Incoming,
    connection: JoinHandle<()>,
}

impl Client {
    /// Creates a client for a `url` as the server prints it: `http://127.0.0.1:12345`.
    pub fn new(url: &str) -> Self {
        Self {
            authority: url.trim_start_matches("http://").trim_end_matches('/').to_owned(),
            user: None,
        }
    }

    /// Returns a client that names this user, as a proxy that authenticates would.
    pub fn with_user(mut self, user: &str) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Requests a path.
    pub async fn get(&self, path: &str) -> Result<StreamingResponse, Error> {
        self.send(self.request(Method::GET, path).body(Full::default())?)
            .await
    }

    /// Requests a path as browsers do, with Brotli.
    pub async fn get_compressed(&self, path: &str) -> Result<StreamingResponse, Error> {
        let request = self
            .request(Method::GET, path)
            .header(header::ACCEPT_ENCODING, "br");
        self.send(request.body(Full::default())?).await
    }

    /// Posts JSON.
    pub async fn post(&self, path: &str, body: String) -> Result<StreamingResponse, Error> {
        let request = self
            .request(Method::POST, path)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Full::from(body))?).await
    }

    /// Posts a text that consists of this many blocks, without having it in memory.
    pub async fn upload(
        &self,
        path: &str,
        block_bytes: usize,
        blocks: usize,
    ) -> Result<StreamingResponse, Error> {
        let request = self
            .request(Method::POST, path)
            .header(header::CONTENT_TYPE, "application/octet-stream");
        let body = RepeatedBody {
            block: Bytes::from(vec![b'x'; block_bytes]),
            left: blocks,
        };
        self.send(request.body(body)?).await
    }

    /// Opens an uncompressed stream on a socket with a tiny receive buffer. The head of the response comes
    /// first.
    pub async fn open_slow(&self, path: &str) -> Result<TcpStream, Error> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        let mut socket = socket.connect(self.authority.parse()?).await?;
        // An HTTP/1.0 response is sent unchanged until the connection ends.
        let request = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.authority);
        socket.write_all(request.as_bytes()).await?;
        Ok(socket)
    }

    fn request(&self, method: Method, path: &str) -> hyper::http::request::Builder {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, &self.authority);
        match self.user.as_deref() {
            Some(user) => request.header("remote-user", user),
            None => request,
        }
    }

    async fn send<B>(&self, request: Request<B>) -> Result<StreamingResponse, Error>
    where
        B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let stream = TcpStream::connect(&self.authority).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(async move {
            // An error of the connection also appears in the body.
            let _ = connection.await;
        });
        let response = sender.send_request(request).await?;
        let encoding = response.headers().get(header::CONTENT_ENCODING);
        Ok(StreamingResponse {
            status: response.status(),
            encoding: encoding.and_then(|value| value.to_str().ok()).map(str::to_owned),
            body: response.into_body(),
            connection,
        })
    }
}

/// A body that is one block, again and again.
struct RepeatedBody {
    block: Bytes,
    left: usize,
}

impl Body for RepeatedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Poll::Ready(None);
        };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(self.block.clone()))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact((self.block.len() * self.left) as u64)
    }
}

impl StreamingResponse {
    /// Returns the next bytes of the body as they arrive.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(bytes) = frame?.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Returns the whole body of a successful response.
    pub async fn bytes(mut self) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            body.extend_from_slice(&bytes);
        }
        if self.status.is_success() {
            Ok(body)
        } else {
            Err(self.error_from(&body))
        }
    }

    /// Converts a failed response to an error with its text.
    pub async fn into_error(mut self) -> Error {
        let body = self.chunk().await.ok().flatten().unwrap_or_default();
        self.error_from(&body)
    }

    fn error_from(&self, body: &[u8]) -> Error {
        format!(
            "the server answered {}: {}",
            self.status,
            String::from_utf8_lossy(body)
        )
        .into()
    }
}

impl Drop for StreamingResponse {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl fmt::Debug for StreamingResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
