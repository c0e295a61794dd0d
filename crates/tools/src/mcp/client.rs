//! Parlor's side of an MCP connection: receives the progress of calls and changes of the tool list.
//! It offers nothing else to the server: no files, no model, no questions to the user.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData,
        Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::Notify;

use super::listed::first_line;
use crate::ProgressReporter;
use parlor_protocol::Fraction;

/// Maximum length of a call's progress message, in bytes.
const MAX_MESSAGE_BYTES: usize = 200;

/// Maximum number of declined questions reported for one call.
const MAX_DECLINED_QUESTIONS: usize = 3;

#[derive(Clone, Default)]
pub struct McpClient {
    calls: Arc<Mutex<HashMap<ProgressToken, CallProgress>>>,
    /// Notified when the tools should be listed again.
    pub tools_changed: Arc<Notify>,
}

/// The progress of a call.
struct CallProgress {
    reporter: ProgressReporter,
    /// The largest progress so far. Smaller values arrived late and are ignored.
    max_progress: f64,
    /// Questions to the user from the server during the call.
    declined: Vec<String>,
}

impl McpClient {
    /// Forwards the progress of a call to its reporter.
    pub fn listen(&self, call: ProgressToken, reporter: ProgressReporter) {
        let progress = CallProgress {
            reporter,
            max_progress: f64::NEG_INFINITY,
            declined: Vec::new(),
        };
        self.calls.lock().insert(call, progress);
    }

    /// Removes a call, and returns the questions to the user that were declined during it.
    pub fn forget(&self, call: &ProgressToken) -> Vec<String> {
        let progress = self.calls.lock().remove(call);
        progress.map(|progress| progress.declined).unwrap_or_default()
    }
}

impl ClientHandler for McpClient {
    async fn on_progress(&self, update: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut calls = self.calls.lock();
        let Some(call) = calls.get_mut(&update.progress_token) else {
            return;
        };
        if update.progress <= call.max_progress {
            return;
        }
        call.max_progress = update.progress;
        let total = update.total.filter(|total| *total > 0.0);
        let message = match (update.message, total) {
            (Some(message), _) => first_line(&message, MAX_MESSAGE_BYTES),
            (None, Some(total)) => format!("{} of {total}", update.progress),
            (None, None) => update.progress.to_string(),
        };
        let fraction = total.map(|total| Fraction::from_f64(update.progress / total));
        call.reporter.report("running", message, fraction);
    }

    /// Declines a question, since the user can't be asked here. The request does not name its call,
    /// so all calls in progress report it.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = match &request {
            ElicitRequestParams::FormElicitationParams { message, .. }
            | ElicitRequestParams::UrlElicitationParams { message, .. } => {
                first_line(message, MAX_MESSAGE_BYTES)
            }
            _ => String::new(),
        };
        for call in self.calls.lock().values_mut() {
            if call.declined.len() < MAX_DECLINED_QUESTIONS {
                call.declined.push(message.clone());
            }
            call.reporter
                .report("declined", "Wanted to ask you something; declined", None);
        }
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let parlor = Implementation::new("parlor", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), parlor)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
