//! HTTP requests.

use std::time::Duration;

use prometheus_client::metrics::family::Family;

use super::{Counter, Group, Histogram, NamedLabels};

/// The bounds of the time to a response, in seconds.
const RESPONSE: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// The methods that have a label of their own.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The label of all that has none of its own.
const OTHER: &str = "other";

/// The figures of requests.
#[derive(Debug)]
pub struct HttpMetrics {
    requests: Family<NamedLabels<3>, Counter>,
    response: Histogram,
}

impl HttpMetrics {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        Self {
            requests: group.counters(
                "http_requests",
                "Requests by the template of their route, method and class of status",
            ),
            response: group.histogram(
                "http_response_seconds",
                "Time from the head of a request to the head of its response; a stream goes on after that",
                RESPONSE,
            ),
        }
    }

    /// Counts a request with its response. `route` is the template of a route; `None` if none matched.
    pub fn count_request(&self, route: Option<&str>, method: &str, status: u16, took: Duration) {
        let method = METHODS.into_iter().find(|known| *known == method);
        let status = match status / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        let labels = [
            ("route", route.unwrap_or(OTHER).into()),
            ("method", method.unwrap_or(OTHER).into()),
            ("status", status.into()),
        ];
        self.requests.get_or_create(&labels).inc();
        self.response.observe_duration(took);
    }
}
