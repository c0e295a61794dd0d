//! The operations of a server: readiness, and the figures for Prometheus.

mod exposition;
mod metrics;
mod readiness;
