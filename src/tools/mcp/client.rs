//! What Parlor is to a server: who hears how far calls are, and that the tools have changed. It offers nothing else: no files, no
//! model, no questions to the person.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
        ProtocolVersion,
    },
    service::NotificationContext,
};
use tokio::sync::Notify;

use super::tool::one_line;
use crate::{protocol::Fraction, tools::Progress};

/// How much of what a call says of itself is shown, in bytes.
const MESSAGE: usize = 200;

#[derive(Clone, Default)]
pub struct Client {
    calls: Arc<Mutex<HashMap<ProgressToken, Heard>>>,
    /// The tools should be listed again.
    pub changed: Arc<Notify>,
}

/// What has been heard of a call.
struct Heard {
    by: Progress,
    /// It only grows. What says less comes late.
    most: f64,
}

impl Client {
    /// Passes on how far a call is.
    pub fn listen(&self, call: ProgressToken, by: Progress) {
        let heard = Heard {
            by,
            most: f64::NEG_INFINITY,
        };
        self.calls().insert(call, heard);
    }

    pub fn forget(&self, call: &ProgressToken) {
        self.calls().remove(call);
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<ProgressToken, Heard>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Client {
    async fn on_progress(&self, said: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut calls = self.calls();
        let Some(call) = calls.get_mut(&said.progress_token) else {
            return;
        };
        if said.progress <= call.most {
            return;
        }
        call.most = said.progress;
        let total = said.total.filter(|total| *total > 0.0);
        let message = match (said.message, total) {
            (Some(message), _) => one_line(&message, MESSAGE),
            (None, Some(total)) => format!("{} of {total}", said.progress),
            (None, None) => said.progress.to_string(),
        };
        let fraction = total.map(|total| Fraction::nearest(said.progress / total));
        call.by.say("running", message, fraction);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let parlor = Implementation::new("parlor", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), parlor)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
