//! Asks a service that the operator has named in the settings: a search engine, a database of articles. Its address is trusted and
//! may be inside; what it answers is not: it may be late, long, broken or hostile.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use reqwest::{Client, Request, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::{
    error::{Fault, ServiceError},
    pace::{Crowded, Pace},
};
use crate::outgoing::{client_for, retry_after};

/// How long an answer may take, its last byte included.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long an answer may be, in bytes.
const LIMIT: usize = 8 << 20;

/// How often a service that is overwhelmed or ill is asked again; how long is waited if it does not say; how long at most.
const RETRIES: u32 = 2;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A service.
#[derive(Debug)]
pub struct Service {
    http: Client,
    /// What it is called towards models and people.
    name: &'static str,
    pace: Option<Pace>,
    patience: Duration,
    first_wait: Duration,
}

/// Why an answer did not come, or not as it should.
enum Failure {
    Final(Fault),
    /// It may come if it is asked for again, after so long if the service says so.
    ForNow(Fault, Option<Duration>),
}

impl Service {
    /// A service at an address.
    ///
    /// # Errors
    ///
    /// If this machine has no certificates to check the service's by.
    pub fn new(name: &'static str, url: &Url) -> Result<Self, reqwest::Error> {
        Ok(Self {
            http: client_for(url).build()?,
            name,
            pace: None,
            patience: PATIENCE,
            first_wait: FIRST_WAIT,
        })
    }

    /// The same, asked no faster than this by all who ask it.
    pub fn paced(mut self, pace: Pace) -> Self {
        self.pace = Some(pace);
        self
    }

    /// The same, waited for no longer than this, and asked again at once. For tests.
    #[cfg(test)]
    pub fn hurried(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self.first_wait = Duration::ZERO;
        self
    }

    pub fn http(&self) -> &Client {
        &self.http
    }

    /// What the service answers, as text: bytes that are none are replaced.
    ///
    /// # Errors
    ///
    /// What went wrong. The address is not in it: that may hold a key, and is the operator's business.
    pub async fn ask(&self, request: RequestBuilder) -> Result<String, ServiceError> {
        self.ask_until_done(request)
            .await
            .map_err(|fault| self.error(fault))
    }

    /// The same for an answer that is JSON.
    pub async fn ask_json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ServiceError> {
        let text = self.ask(request).await?;
        serde_json::from_str(&text).map_err(|error| self.error(self.unreadable(error)))
    }

    /// A fault of this service.
    pub fn error(&self, fault: Fault) -> ServiceError {
        ServiceError {
            name: self.name,
            fault,
        }
    }

    /// The fault of an answer that makes no sense.
    pub fn unreadable(&self, error: impl fmt::Display) -> Fault {
        tracing::warn!(service = self.name, %error, "its answer can't be read");
        Fault::Unreadable
    }

    async fn ask_until_done(&self, request: RequestBuilder) -> Result<String, Fault> {
        let request = request.build().map_err(|error| self.unreadable(error))?;
        let mut retries = 0;
        loop {
            if let Some(pace) = &self.pace {
                pace.turn().await.map_err(|Crowded| Fault::Crowded)?;
            }
            // Bodies are in memory: there is always a copy.
            let request = request.try_clone().ok_or(Fault::Unreachable)?;
            let (fault, wait) = match timeout(self.patience, self.ask_once(request)).await {
                Ok(Ok(text)) => return Ok(text),
                Ok(Err(Failure::Final(fault))) => return Err(fault),
                Ok(Err(Failure::ForNow(fault, wait))) => (fault, wait),
                Err(_) => return Err(Fault::TooLate(self.patience)),
            };
            let wait = wait.unwrap_or(self.first_wait * 2_u32.pow(retries));
            if retries == RETRIES || wait > LONGEST_WAIT {
                return Err(fault);
            }
            retries += 1;
            match &self.pace {
                Some(pace) => pace.pause(wait),
                None => sleep(wait).await,
            }
        }
    }

    async fn ask_once(&self, request: Request) -> Result<String, Failure> {
        let response = self.http.execute(request).await.map_err(|error| {
            tracing::warn!(service = self.name, error = %error.without_url(), "can't be reached");
            Failure::Final(Fault::Unreachable)
        })?;
        let status = response.status();
        if status.is_success() {
            return self.read(response).await.map_err(Failure::Final);
        }
        tracing::warn!(service = self.name, %status, "refused");
        let after = retry_after(response.headers(), SystemTime::now());
        Err(match status.as_u16() {
            429 => Failure::ForNow(Fault::Busy(after), after),
            500.. => Failure::ForNow(Fault::Ill(status), after),
            401 | 403 => Failure::Final(Fault::ShutOut(status)),
            _ => Failure::Final(Fault::Refused(status)),
        })
    }

    async fn read(&self, mut response: Response) -> Result<String, Fault> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > LIMIT => return Err(Fault::TooLong(LIMIT)),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(String::from_utf8_lossy(&body).into_owned()),
                Err(error) => return Err(self.unreadable(error.without_url())),
            }
        }
    }
}
