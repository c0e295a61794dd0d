//! Clients of the services that the settings name (search engines, PubMed), for tools and pages alike: requests at the pace that a
//! service allows, retries, bounded answers and errors in words. Addresses that a model or a page names are fetched by `web`.

mod client;
mod error;
pub mod pubmed;
mod rate_limiter;
#[cfg(test)]
mod tests;

pub use self::{
    client::Service,
    error::{ServiceError, ServiceErrorKind},
};
