//! Diagnostics: how an answer was made. What was sent to the model, what came back before anything was taken out of it,
//! what it cost and how long it took.
//!
//! A run writes down its calls ([`record`], by `runs::recorder`), without what is secret ([`secrets`](crate::secrets)) and within limits. Who
//! wants to know has them put together here ([`report`]), for any client as JSON and for the page as a [`view`].
//!
//! Nothing here is shown to a model, and nothing that is shown in a conversation depends on it.

mod cost;
pub mod record;
mod report;
#[cfg(test)]
mod tests;
mod view;

pub use self::{cost::call_cost, report::Diagnostics};
