//! The context windows of an endpoint's models: from the settings, from the model list, or from the APIs of
//! local servers.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use reqwest::{Url, header::HeaderMap};
use serde_json::Value;

use crate::providers::{
    EndpointConfig,
    local_probe::{LocalProbe, ModelProbe},
    model_list::listed_windows,
    transport::Transport,
};

/// The known windows of an endpoint's models.
#[derive(Debug)]
pub struct ContextWindows {
    configured_for: Option<usize>,
    by_model: BTreeMap<String, usize>,
    local: LocalProbe,
    /// The windows in the model list; `None` before the first list.
    listed: Mutex<Option<HashMap<String, usize>>>,
}

impl ContextWindows {
    pub fn new(config: &EndpointConfig, url: &Url) -> Self {
        Self {
            configured_for: config.context_window,
            by_model: config.context_windows.clone(),
            local: LocalProbe::new(url),
            listed: Mutex::default(),
        }
    }

    /// Returns the configured window of a model, which makes a probe unnecessary.
    pub fn configured_window(&self, model: &str) -> Option<usize> {
        self.by_model.get(model).copied().or(self.configured_for)
    }

    /// Returns true if a model list was read.
    pub fn has_list(&self) -> bool {
        self.listed.lock().is_some()
    }

    /// Reads the windows from a model list.
    pub fn read_list(&self, list: &Value) {
        self.listed
            .lock()
            .get_or_insert_default()
            .extend(listed_windows(list));
    }

    /// Probes the server, and falls back to the model list. A configured window is not probed.
    pub async fn probe(&self, transport: &Transport, headers: &HeaderMap, model: &str) -> ModelProbe {
        let is_wanted = self.configured_window(model).is_none();
        let mut result = self.local.run(transport, headers, model, is_wanted).await;
        let listed = || self.listed.lock().as_ref()?.get(model).copied();
        result.window = result.window.or_else(listed);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_window_wins() {
        let mut config = EndpointConfig::new("e", "http://x/v1");
        let url = Url::parse(&config.base_url).unwrap();
        assert_eq!(ContextWindows::new(&config, &url).configured_window("m"), None);
        config.context_window = Some(1000);
        config.context_windows = [("big".to_owned(), 5000)].into();
        let windows = ContextWindows::new(&config, &url);
        assert_eq!(
            (windows.configured_window("m"), windows.configured_window("big")),
            (Some(1000), Some(5000))
        );
    }
}
