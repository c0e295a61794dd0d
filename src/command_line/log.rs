//! The log of the program: its filter and its form.

use std::{
    io::{self, IsTerminal},
    panic,
};

use parlor_base::secrets::log;
use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

use super::json_log::JsonLog;

/// The default log filter; `PARLOR_LOG` overrides it.
const DEFAULT_FILTER: &str = "info";

/// Targets removed from the log. rmcp would log the messages of MCP servers verbatim, and their URLs
/// with keys. `tools::mcp` logs what is relevant of them.
const SILENCED_TARGETS: &str = ",rmcp=off";

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Starts the log on standard error, as `PARLOR_LOG` and `PARLOR_LOG_FORMAT` say.
pub fn start() -> LogForm {
    let filter = std::env::var("PARLOR_LOG").unwrap_or_default();
    let filter = if filter.trim().is_empty() {
        DEFAULT_FILTER.into()
    } else {
        filter
    };
    let filter = EnvFilter::try_new(filter + SILENCED_TARGETS)
        .unwrap_or_else(|_| EnvFilter::new(format!("{DEFAULT_FILTER}{SILENCED_TARGETS}")));
    let wanted = std::env::var("PARLOR_LOG_FORMAT").unwrap_or_default();
    let form = match wanted.trim() {
        "json" => LogForm::Json,
        _ => LogForm::Text,
    };
    match form {
        LogForm::Text => tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(|| log::RedactedStderr)
            .with_ansi(io::stderr().is_terminal())
            .init(),
        LogForm::Json => {
            let layer = JsonLog::new(log::redact, log::write_line);
            tracing_subscriber::registry().with(filter).with(layer).init();
            log_panics();
        }
    }
    if !matches!(wanted.trim(), "" | "text" | "json") {
        tracing::warn!("PARLOR_LOG_FORMAT is “{wanted}”; it must be text or json");
    }
    form
}

/// Writes panics into the log, whose lines are all JSON.
fn log_panics() {
    panic::set_hook(Box::new(|panicked| {
        let message = panicked.payload_as_str().unwrap_or("unknown");
        let location = panicked.location().map(ToString::to_string);
        tracing::error!(location, "panicked: {message}");
    }));
}
