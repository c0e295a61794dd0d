//! Diagnostics: the requests of an answer, the raw responses, and their cost and duration.
//!
//! A run records its calls ([`record`] with its [`timeline`], by `runs::recorder`) without secrets ([`secrets`](parlor_base::secrets))
//! and within limits. A report ([`report`]) combines them on request, as JSON for any client and as a
//! [`view`] for the page.
//!
//! Nothing here is shown to a model, and nothing that is shown in a conversation depends on it.

pub mod record;
pub mod redaction;
mod report;
#[cfg(test)]
mod tests;
pub mod timeline;
mod view;

pub use self::report::{Diagnostics, StepCall};
