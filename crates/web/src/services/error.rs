//! Errors of services. The message says what happened and is for everybody. The advice differs: for
//! a model it is given here, for a user where the error is shown.

use std::{fmt, time::Duration};

use reqwest::StatusCode;

/// An error of a service. `Display` says what happened, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceError {
    /// The name of the service.
    pub name: &'static str,
    pub kind: ServiceErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceErrorKind {
    Unreachable,
    /// The service did not respond within this time.
    Timeout(Duration),
    /// The service is overloaded, and can be asked again after this time, if it gives one.
    Busy(Option<Duration>),
    /// Too many requests are queued in this process.
    QueueFull,
    /// The service reports an error of its own.
    ServerError(StatusCode),
    /// The service reports an error of its own, in these words.
    Failed(String),
    /// The service denies access.
    AccessDenied(StatusCode),
    Refused(StatusCode),
    /// The response exceeded this number of bytes.
    TooLarge(usize),
    Unreadable,
    /// The service rejected the query, with this message.
    InvalidQuery(String),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match &self.kind {
            ServiceErrorKind::Unreachable => f.write_str(" can't be reached."),
            ServiceErrorKind::Timeout(limit) => {
                write!(f, " did not respond within {} seconds.", limit.as_secs_f64())
            }
            ServiceErrorKind::Busy(_) => f.write_str(" is asked too much (429)."),
            ServiceErrorKind::QueueFull => {
                f.write_str(" is asked too much from here: too many requests wait for their turn already.")
            }
            ServiceErrorKind::ServerError(status) => write!(f, " failed ({status})."),
            ServiceErrorKind::Failed(words) => {
                write!(f, " failed: {}.", words.trim_end_matches('.'))
            }
            ServiceErrorKind::AccessDenied(status) => write!(f, " does not let Parlor ask ({status})."),
            ServiceErrorKind::Refused(status) => write!(f, " refused the request ({status})."),
            ServiceErrorKind::TooLarge(limit) => {
                write!(f, " sent a response of more than {} MB.", limit >> 20)
            }
            ServiceErrorKind::Unreadable => f.write_str(" sent a response that can't be read."),
            ServiceErrorKind::InvalidQuery(words) => {
                write!(
                    f,
                    " did not understand the query: {}.",
                    words.trim_end_matches('.')
                )
            }
        }
    }
}

impl std::error::Error for ServiceError {}

impl ServiceErrorKind {
    /// Returns the advice for a model.
    pub fn advice(&self) -> String {
        match self {
            Self::Unreachable => "Do without it.".into(),
            Self::Timeout(_) | Self::ServerError(_) | Self::Failed(_) => {
                "Do without it, or try again later.".into()
            }
            Self::Busy(Some(after)) => {
                format!("It can be asked again in {} seconds.", after.as_secs_f64().ceil())
            }
            Self::Busy(None) => "It can be asked again later.".into(),
            Self::QueueFull => "Try again in a minute.".into(),
            Self::AccessDenied(_) => {
                "The operator must check its URL and key in the settings. Continue without it.".into()
            }
            Self::Refused(_) => "Ask in another way, or do without it.".into(),
            Self::TooLarge(_) => "Ask for less.".into(),
            Self::Unreadable => "Try once more, or do without it.".into(),
            Self::InvalidQuery(_) => "Write the query in another way.".into(),
        }
    }
}
