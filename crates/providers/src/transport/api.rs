//! The API of an endpoint: its base URL, the headers of all requests, and requests of JSON.

use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{
    EndpointInfo, Transport, answer_stream,
    event_decoder::EventDecoder,
    list_backoff::ListBackoff,
    urls::{base_path_url, checked_key, configured_headers, endpoint_url},
};
use crate::{
    EndpointConfig,
    catalog::ListedModel,
    local_probe::{LocalProbe, ModelProbe},
    model_list::ModelList,
};
use parlor_model::{ModelError, ModelStream};

/// The time limit of a list of models in all its pages, for which a page of Parlor waits.
const MODEL_LIST_TIMEOUT: Duration = Duration::from_secs(4);

/// The maximum number of pages of a list that are requested.
const MAX_LIST_PAGES: usize = 20;

/// The reason why a page of a list can't be read.
pub enum PageError {
    Unreachable(reqwest::Error),
    /// The server answered with an error, or with no list.
    Refused(ModelError),
}

/// One endpoint's API.
#[derive(Debug)]
pub struct Api {
    transport: Transport,
    base: String,
    /// The query of the base URL, which is added to every request.
    query: Option<String>,
    headers: HeaderMap,
    local: LocalProbe,
    max_frame_bytes: usize,
    list_backoff: ListBackoff,
}

impl Api {
    /// Creates the API of an endpoint, whose key is sent in the header that `key_header` returns for it.
    ///
    /// # Errors
    ///
    /// If the endpoint can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(
        config: &EndpointConfig,
        key_header: impl FnOnce(&str) -> (HeaderName, String),
    ) -> Result<Self, ModelError> {
        let url = endpoint_url(config)?;
        let facts = EndpointInfo::new(config, &url);
        let key = checked_key(config, &facts)?;
        let mut headers = HeaderMap::new();
        if !key.is_empty() {
            let (name, value) = key_header(key);
            // The key was checked.
            if let Ok(mut value) = HeaderValue::try_from(value) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers.extend(configured_headers(config, &facts)?);
        Ok(Self {
            transport: Transport::new(&url, facts, config)?,
            base: base_path_url(&url),
            query: url.query().map(str::to_owned),
            headers,
            local: LocalProbe::new(&url),
            max_frame_bytes: config.max_frame_bytes,
            list_backoff: ListBackoff::default(),
        })
    }

    /// Creates the API of an endpoint whose key is sent as OpenAI's servers expect it.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_bearer(config: &EndpointConfig) -> Result<Self, ModelError> {
        Self::new(config, |key| (header::AUTHORIZATION, format!("Bearer {key}")))
    }

    /// Adds a header to all requests, unless the settings define it.
    pub fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
        self
    }

    pub fn endpoint(&self) -> &EndpointInfo {
        &self.transport.endpoint
    }

    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Probes the server for what it says about a model, if the user may run it.
    pub async fn probe(&self, model: &str, is_window_wanted: bool) -> ModelProbe {
        self.local
            .run(&self.transport, &self.headers, model, is_window_wanted)
            .await
    }

    /// Returns a URL of the API. `query` is encoded.
    fn url(&self, path: &str, query: &str) -> String {
        let queries = [self.query.as_deref().unwrap_or_default(), query];
        let queries: Vec<&str> = queries.into_iter().filter(|query| !query.is_empty()).collect();
        match queries.is_empty() {
            true => format!("{}{path}", self.base),
            false => format!("{}{path}?{}", self.base, queries.join("&")),
        }
    }

    /// Returns the headers of all requests.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns a URL of the API.
    pub fn path_url(&self, path: &str) -> String {
        self.url(path, "")
    }

    /// Calls a model and returns the events of its answer.
    ///
    /// # Errors
    ///
    /// If the server can't be reached or answers with an error before the first event.
    pub async fn call(
        &self,
        path: &str,
        query: &str,
        model: &str,
        body: &impl serde::Serialize,
        decoder: impl EventDecoder + 'static,
    ) -> Result<ModelStream, ModelError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            self.transport
                .invalid_request(format!("cannot be sent this conversation: {error}"))
        })?;
        let http = self.transport.http();
        let post = http
            .post(self.url(path, query))
            .header(header::ACCEPT, "text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .headers(self.headers.clone())
            .body(body);
        let response = self.transport.send(post, Some(model)).await?;
        answer_stream::stream_events(self.transport.clone(), response, decoder, self.max_frame_bytes).await
    }

    /// Requests the list of models, all pages at once. After a `Retry-After`, no request is sent before the
    /// delay has passed.
    ///
    /// # Errors
    ///
    /// If a page can't be read.
    pub async fn models(&self, list: &ModelList) -> Result<Vec<ListedModel>, ModelError> {
        if let Some(error) = self.list_backoff.active_error() {
            return Err(error);
        }
        let pages = self.list_pages(list, |query| async move {
            let page = self.get_page(list, &query).await;
            page.map_err(|error| match error {
                PageError::Unreachable(error) => self.transport.unreachable(&error),
                PageError::Refused(error) => error,
            })
        });
        let pages = match tokio::time::timeout(MODEL_LIST_TIMEOUT, pages).await {
            Ok(pages) => pages,
            Err(_) => Err(self.transport.timed_out(MODEL_LIST_TIMEOUT)),
        };
        self.list_backoff.record(pages.as_ref().err());
        let invalid = || self.transport.invalid_response("sent an invalid list of models.");
        (list.read)(pages?).ok_or_else(invalid)
    }

    /// Returns all pages of a list, each as `get` returns it for its query.
    ///
    /// # Errors
    ///
    /// The first error of `get`.
    pub async fn list_pages<E, F: Future<Output = Result<Value, E>>>(
        &self,
        list: &ModelList,
        get: impl Fn(String) -> F,
    ) -> Result<Vec<Value>, E> {
        let mut pages = Vec::new();
        let mut query = Some(list.first_query.to_owned());
        while let Some(now) = query.filter(|_| pages.len() < MAX_LIST_PAGES) {
            let page = get(now.clone()).await?;
            // A server that repeats its cursor would never end.
            query = (list.next_query)(&page).filter(|next| *next != now);
            pages.push(page);
        }
        Ok(pages)
    }

    /// Requests a page of a list.
    ///
    /// # Errors
    ///
    /// If there is no connection, or no list.
    pub async fn get_page(&self, list: &ModelList, query: &str) -> Result<Value, PageError> {
        let get = self.transport.http().get(self.url(list.path, query));
        let sent = get.headers(self.headers.clone()).send().await;
        let response = sent.map_err(PageError::Unreachable)?;
        let page = match response.status().is_success() {
            true => self.transport.read_list(response).await,
            false => Err(self.transport.status_error(response, None).await),
        };
        page.map_err(PageError::Refused)
    }
}
