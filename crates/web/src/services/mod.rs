//! Clients of the services that the settings name (search engines, PubMed), for tools and pages:
//! rate limits, retries, bounded responses and readable errors. URLs that a model or a page
//! names are fetched by `web`.

mod client;
mod error;
pub mod pubmed;
mod rate_limiter;
#[cfg(test)]
mod tests;

pub use self::{
    client::Service,
    error::{ServiceError, ServiceErrorKind},
    rate_limiter::SharedTurns,
};
