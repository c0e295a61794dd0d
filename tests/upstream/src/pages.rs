//! Pages that tests serve at any path: the responses and the failures of search engines, databases and web
//! sites.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::State as Extract,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{server::capture, state::UpstreamState};

/// The size of the blocks of an endless page.
const BLOCK_BYTES: usize = 64 << 10;

/// A page at a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page {
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: PageBody,
}

/// The body of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageBody {
    Text(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
    /// This number of spaces.
    Spaces(usize),
    /// The connection stays open without any response, not even a status.
    Never,
}

/// A page and the requests that get it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacedPage {
    pub path: String,
    #[serde(flatten)]
    pub page: Page,
    /// The number of times that it is served; without it, always.
    #[serde(default)]
    pub times: Option<u64>,
}

fn ok() -> u16 {
    200
}

impl Default for PageBody {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Page {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            status: ok(),
            headers: BTreeMap::new(),
            body: PageBody::Text(text.into()),
        }
    }

    pub fn json(json: &Value) -> Self {
        Self::text(json.to_string()).header("content-type", "application/json")
    }

    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            body: PageBody::Bytes(bytes.into()),
            ..Self::text("")
        }
    }

    pub fn spaces(count: usize) -> Self {
        Self {
            body: PageBody::Spaces(count),
            ..Self::text("")
        }
    }

    pub fn never() -> Self {
        Self {
            body: PageBody::Never,
            ..Self::text("")
        }
    }

    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }
}

/// Serves all requests without another route.
pub async fn serve_page(
    Extract(state): Extract<Arc<UpstreamState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    capture(&state, &method, &uri, &headers, body);
    let Some(page) = state.page_at(uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let body = match page.body {
        PageBody::Text(text) => Body::from(text),
        PageBody::Bytes(bytes) => Body::from(bytes),
        PageBody::Spaces(count) => spaces(count),
        PageBody::Never => std::future::pending().await,
    };
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, body).into_response();
    for (name, value) in page.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn spaces(count: usize) -> Body {
    let block = Bytes::from_static(&[b' '; BLOCK_BYTES]);
    let blocks =
        (0..count.div_ceil(BLOCK_BYTES)).map(move |_| Ok::<_, std::convert::Infallible>(block.clone()));
    Body::from_stream(futures::stream::iter(blocks))
}
