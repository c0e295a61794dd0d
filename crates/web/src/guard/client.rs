//! The web client: follows redirects by hand and checks each URL.

use std::{error::Error, io, sync::Arc, time::Duration};

use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, dns::Resolve, header, redirect};

use super::{
    address, body,
    resolver::{GuardedResolver, InternalNameError, SystemResolver, UnknownNameError},
    target::CheckedUrl,
};
use crate::{
    FetchError,
    error::quote_line,
    http_client::{causes::causes, install_tls, with_roots},
};
use parlor_base::settings::{AllowedHosts, InvalidHostError};

const USER_AGENT: &str = concat!("Parlor/", env!("CARGO_PKG_VERSION"));
const ACCEPT: &str =
    "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1";

/// The settings of the web client.
#[derive(Clone, Debug, PartialEq)]
pub struct WebConfig {
    /// Hosts that may be internal: `host` (any port) or `host:port`, compared exactly.
    pub allowed_hosts: Vec<String>,
    /// Maximum size of a body in bytes, unpacked.
    pub max_bytes: usize,
    /// The time limit for a fetch, including its redirects and the last byte.
    pub timeout: Duration,
    pub max_redirects: usize,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            max_bytes: 4 << 20,
            timeout: Duration::from_secs(20),
            max_redirects: 5,
        }
    }
}

/// A downloaded response.
#[derive(Clone, Debug, PartialEq)]
pub struct Download {
    /// The URL after all redirects.
    pub url: Url,
    /// The `Content-Type` with its parameters; empty if the server sent none.
    pub content_type: String,
    pub body: Vec<u8>,
    /// True if the body was longer than the limit.
    pub is_cut: bool,
}

/// The reason why a client could not be created.
#[derive(Debug, thiserror::Error)]
pub enum WebClientError {
    #[error(transparent)]
    InvalidHost(#[from] InvalidHostError),
    #[error("no HTTP client can be made: {0}")]
    Http(#[from] reqwest::Error),
}

/// Fetches URLs of the public internet. One is enough for a process; cloning is cheap.
#[derive(Clone, Debug)]
pub struct WebClient {
    /// The client for all other hosts, which connects to checked addresses only.
    guarded: Client,
    /// The client for the allowed hosts, whose addresses are not checked. Nothing else may use it.
    exempt: Client,
    allowed: AllowedHosts,
    config: WebConfig,
}

impl WebClient {
    /// Creates a client.
    ///
    /// # Errors
    ///
    /// If one of the allowed hosts is invalid, or the system has no TLS.
    pub fn new(config: WebConfig) -> Result<Self, WebClientError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// Creates a client with another resolver of names.
    pub(super) fn with_resolver(
        config: WebConfig,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, WebClientError> {
        Self::with_resolvers(config, Arc::new(GuardedResolver(resolver.clone())), resolver)
    }

    fn with_resolvers(
        config: WebConfig,
        guarded: Arc<dyn Resolve>,
        exempt: Arc<dyn Resolve>,
    ) -> Result<Self, WebClientError> {
        Ok(Self {
            guarded: http_client(&config, &guarded)?,
            exempt: http_client(&config, &exempt)?,
            allowed: AllowedHosts::parse(&config.allowed_hosts)?,
            config,
        })
    }

    /// Creates a client whose first line of defence has a hole: names are not checked.
    #[cfg(test)]
    pub(super) fn without_name_check(
        config: WebConfig,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, WebClientError> {
        Self::with_resolvers(config, resolver.clone(), resolver)
    }

    /// Fetches a URL, if its content type is `wanted`. A response without a content type is
    /// always accepted.
    ///
    /// # Errors
    ///
    /// If the URL or a redirect is not allowed, or if there is no such response in time.
    pub async fn get(&self, url: &str, wanted: fn(&str) -> bool) -> Result<Download, FetchError> {
        let target = CheckedUrl::parse(url, &self.allowed)?;
        tokio::time::timeout(self.config.timeout, self.download(target, wanted))
            .await
            .unwrap_or(Err(FetchError::Timeout(self.config.timeout)))
    }

    async fn download(&self, target: CheckedUrl, wanted: fn(&str) -> bool) -> Result<Download, FetchError> {
        let (target, response) = self.follow(target).await?;
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(FetchError::Status { status });
        }
        let content_type = response
            .headers()
            .get(header::CONTENT_TYPE)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default();
        if !wanted(&content_type) {
            let essence = content_type.split(';').next().unwrap_or_default();
            return Err(FetchError::UnsupportedType(quote_line(essence.trim())));
        }
        let (body, is_cut) = body::read_body(response, self.config.max_bytes).await?;
        Ok(Download {
            url: target.url,
            content_type,
            body,
            is_cut,
        })
    }

    /// Follows redirects. Each target is checked like the first URL.
    async fn follow(&self, mut target: CheckedUrl) -> Result<(CheckedUrl, Response), FetchError> {
        for _ in 0..=self.config.max_redirects {
            let response = self.ask(&target).await?;
            let Some(location) = redirect_location(&response) else {
                return Ok((target, response));
            };
            target = target.redirect(location, &self.allowed)?;
        }
        Err(FetchError::TooManyRedirects(self.config.max_redirects))
    }

    /// Sends one request to one checked URL.
    async fn ask(&self, target: &CheckedUrl) -> Result<Response, FetchError> {
        let client = if target.is_exempt {
            &self.exempt
        } else {
            &self.guarded
        };
        let response = client
            .get(target.url.clone())
            .send()
            .await
            .map_err(|error| fetch_error(&error, target))?;
        if target.is_exempt || is_public_peer(&response) {
            Ok(response)
        } else {
            Err(FetchError::InternalAddress(target.quoted_host()))
        }
    }
}

/// Checks that a connection went to an allowed address. This fails only if the first line of
/// defence has a hole.
fn is_public_peer(response: &Response) -> bool {
    response
        .remote_addr()
        .is_some_and(|remote| address::is_public(remote.ip()))
}

fn redirect_location(response: &Response) -> Option<&[u8]> {
    match response.status() {
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => Some(response.headers().get(header::LOCATION)?.as_bytes()),
        _ => None,
    }
}

fn http_client(config: &WebConfig, resolver: &Arc<dyn Resolve>) -> reqwest::Result<Client> {
    install_tls();
    with_roots(client_builder(config, resolver.clone())).build()
}

fn client_builder(config: &WebConfig, resolver: Arc<dyn Resolve>) -> ClientBuilder {
    let headers = [
        (header::ACCEPT, header::HeaderValue::from_static(ACCEPT)),
        (
            header::ACCEPT_ENCODING,
            header::HeaderValue::from_static(body::ACCEPT_ENCODING),
        ),
    ];
    Client::builder()
        .user_agent(USER_AGENT)
        .default_headers(headers.into_iter().collect())
        .dns_resolver(resolver)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        // Shared by a host's addresses: one that does not answer leaves time for the next.
        .connect_timeout(config.timeout / 2)
        // Every request has a connection of its own, which was checked for it.
        .pool_max_idle_per_host(0)
}

/// Converts an error without a response.
fn fetch_error(error: &reqwest::Error, target: &CheckedUrl) -> FetchError {
    let host = target.quoted_host();
    if causes(error).any(<dyn Error>::is::<InternalNameError>) {
        return FetchError::InternalAddress(host);
    }
    if causes(error).any(<dyn Error>::is::<UnknownNameError>) {
        return FetchError::UnknownHost(host);
    }
    let cause = causes(error).last().unwrap_or(error);
    let cause = match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
        _ if error.is_timeout() => "it does not answer".to_owned(),
        Some(io::ErrorKind::ConnectionRefused) => "nothing answers there".to_owned(),
        _ => quote_line(&cause.to_string()),
    };
    FetchError::Unreachable { host, cause }
}
