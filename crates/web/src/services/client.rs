//! A client for services configured by the operator: a search engine, a database of articles. The
//! URL is trusted and may be internal; the responses are not trusted: they may be late, long,
//! broken or hostile.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use reqwest::{Client, Request, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::{
    error::{ServiceError, ServiceErrorKind},
    rate_limiter::{QueueFull, RateLimiter, SharedTurns},
};
use crate::http_client::{causes::innermost_cause, client_for, parse_retry_after};

/// The time limit for a response, including its last byte.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum size of a response, in bytes.
const MAX_RESPONSE_BYTES: usize = 8 << 20;

/// The number of retries after a temporary failure; the first delay if the service gives none; the
/// maximum delay.
const MAX_RETRIES: u32 = 2;
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// A configured HTTP service, with its limits of rate and retries.
#[derive(Debug)]
pub struct Service {
    http: Client,
    /// The name of the service, for models and people.
    name: &'static str,
    rate_limiter: Option<RateLimiter>,
    timeout: Duration,
    first_retry_delay: Duration,
}

/// The error of one attempt.
enum RequestFailure {
    Final(ServiceErrorKind),
    /// A retry may succeed, after this delay if the service gives one.
    Retryable(ServiceErrorKind, Option<Duration>),
}

impl RequestFailure {
    /// Returns the failure of a response that tells its error.
    fn from_response(error: ServiceErrorKind) -> Self {
        match error {
            ServiceErrorKind::Busy(_) | ServiceErrorKind::Failed(_) => Self::Retryable(error, None),
            error => Self::Final(error),
        }
    }
}

impl Service {
    /// Creates the client for a service at a URL.
    ///
    /// # Errors
    ///
    /// If this machine has no certificates to verify the service's.
    pub fn new(name: &'static str, url: &Url) -> Result<Self, reqwest::Error> {
        Ok(Self {
            http: client_for(url).build()?,
            name,
            rate_limiter: None,
            timeout: RESPONSE_TIMEOUT,
            first_retry_delay: FIRST_RETRY_DELAY,
        })
    }

    /// Sets a rate limiter, shared by all callers of the service.
    pub fn with_rate_limiter(mut self, rate_limiter: RateLimiter) -> Self {
        self.rate_limiter = Some(rate_limiter);
        self
    }

    /// Shares the turns of its rate limiter with other processes.
    pub fn sharing(mut self, turns: Option<Arc<dyn SharedTurns>>) -> Self {
        self.rate_limiter = self.rate_limiter.map(|limiter| limiter.sharing(turns));
        self
    }

    /// Sets a short time limit and removes the retry delay. For tests.
    pub fn with_test_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self.first_retry_delay = Duration::ZERO;
        self
    }

    pub fn http(&self) -> &Client {
        &self.http
    }

    /// Returns the response as text, with invalid bytes replaced.
    ///
    /// # Errors
    ///
    /// The reason for the failure, without the URL: it may contain a key, and concerns only the
    /// operator.
    pub async fn fetch_text(&self, request: RequestBuilder) -> Result<String, ServiceError> {
        self.fetch_with_retries(request, Ok)
            .await
            .map_err(|fault| self.error(fault))
    }

    /// Returns a response as text, unless it has an error in it, as `find_error` reads it. Temporary ones are retried.
    ///
    /// # Errors
    ///
    /// As [`Self::fetch_text`].
    pub async fn fetch_checked_text(
        &self,
        request: RequestBuilder,
        find_error: impl Fn(&str) -> Option<ServiceErrorKind>,
    ) -> Result<String, ServiceError> {
        let read = |text: String| match find_error(&text) {
            None => Ok(text),
            Some(error) => Err(RequestFailure::from_response(error)),
        };
        let fetched = self.fetch_with_retries(request, read).await;
        fetched.map_err(|fault| self.error(fault))
    }

    /// Returns a response that is JSON.
    pub async fn fetch_json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ServiceError> {
        self.fetch_checked_json(request, |_| None).await
    }

    /// Returns a response that is JSON and has no error in it, as `find_error` reads it. Temporary ones are retried.
    pub async fn fetch_checked_json<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        find_error: impl Fn(&T) -> Option<ServiceErrorKind>,
    ) -> Result<T, ServiceError> {
        let read = |text: String| {
            let json = serde_json::from_str(&text);
            let json = json.map_err(|error| RequestFailure::Final(self.unreadable(error)))?;
            match find_error(&json) {
                None => Ok(json),
                Some(error) => Err(RequestFailure::from_response(error)),
            }
        };
        let fetched = self.fetch_with_retries(request, read).await;
        fetched.map_err(|fault| self.error(fault))
    }

    /// Returns an error of this service.
    pub fn error(&self, fault: ServiceErrorKind) -> ServiceError {
        ServiceError {
            name: self.name,
            kind: fault,
        }
    }

    /// Returns the kind of error for an invalid response.
    pub fn unreadable(&self, error: impl fmt::Display) -> ServiceErrorKind {
        tracing::warn!(service = self.name, %error, "its response can't be read");
        ServiceErrorKind::Unreadable
    }

    async fn fetch_with_retries<T>(
        &self,
        request: RequestBuilder,
        read: impl Fn(String) -> Result<T, RequestFailure>,
    ) -> Result<T, ServiceErrorKind> {
        let request = request.build().map_err(|error| self.unreadable(error))?;
        let mut retries = 0;
        loop {
            if let Some(rate_limiter) = &self.rate_limiter {
                rate_limiter
                    .acquire()
                    .await
                    .map_err(|QueueFull| ServiceErrorKind::QueueFull)?;
            }
            // Bodies are in memory, so a request can always be cloned.
            let request = request.try_clone().ok_or(ServiceErrorKind::Unreachable)?;
            let fetched = timeout(self.timeout, self.fetch_once(request)).await;
            let (fault, wait) = match fetched.map(|fetched| fetched.and_then(&read)) {
                Ok(Ok(read)) => return Ok(read),
                Ok(Err(RequestFailure::Final(fault))) => return Err(fault),
                Ok(Err(RequestFailure::Retryable(fault, wait))) => (fault, wait),
                Err(_) => return Err(ServiceErrorKind::Timeout(self.timeout)),
            };
            let wait = wait.unwrap_or(self.first_retry_delay * 2_u32.pow(retries));
            if retries == MAX_RETRIES || wait > MAX_RETRY_DELAY {
                return Err(fault);
            }
            retries += 1;
            match &self.rate_limiter {
                Some(rate_limiter) => rate_limiter.pause(wait).await,
                None => sleep(wait).await,
            }
        }
    }

    async fn fetch_once(&self, request: Request) -> Result<String, RequestFailure> {
        let response = self.http.execute(request).await.map_err(|error| {
            let cause = innermost_cause(&error.without_url());
            tracing::warn!(service = self.name, cause, "can't be reached");
            RequestFailure::Retryable(ServiceErrorKind::Unreachable, None)
        })?;
        let status = response.status();
        if status.is_success() {
            return self.read_body(response).await;
        }
        tracing::warn!(service = self.name, %status, "refused");
        let after = parse_retry_after(response.headers(), SystemTime::now());
        Err(match status.as_u16() {
            429 => RequestFailure::Retryable(ServiceErrorKind::Busy(after), after),
            500.. => RequestFailure::Retryable(ServiceErrorKind::ServerError(status), after),
            401 | 403 => RequestFailure::Final(ServiceErrorKind::AccessDenied(status)),
            _ => RequestFailure::Final(ServiceErrorKind::Refused(status)),
        })
    }

    async fn read_body(&self, mut response: Response) -> Result<String, RequestFailure> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > MAX_RESPONSE_BYTES => {
                    let fault = ServiceErrorKind::TooLarge(MAX_RESPONSE_BYTES);
                    return Err(RequestFailure::Final(fault));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(String::from_utf8_lossy(&body).into_owned()),
                // The connection broke.
                Err(error) => {
                    let fault = self.unreadable(error.without_url());
                    return Err(RequestFailure::Retryable(fault, None));
                }
            }
        }
    }
}
