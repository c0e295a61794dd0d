//! Redacts what is said about an MCP server: the secrets of all settings, and the server's address with a key in it.

use std::sync::Arc;

use super::log::ServerLog;
use crate::{
    secrets::Secrets,
    settings::{McpServer, mcp::Reached},
};

/// The log about a server, and what must not appear where it is spoken of.
#[derive(Clone)]
pub struct Hidden {
    log: ServerLog,
    /// The server's whole address, if there is more in it than where it leads.
    address: Option<Arc<str>>,
    secrets: Arc<Secrets>,
}

/// The longest error that is shown, in bytes.
const MAX_SHOWN: usize = 1000;

impl Hidden {
    pub fn new(settings: &McpServer, secrets: Arc<Secrets>) -> Self {
        let address = match &settings.reached {
            Reached::Url { url, .. } if url.contains(['@', '?']) => Some(url.as_str().into()),
            _ => None,
        };
        Self {
            log: ServerLog::new(&settings.name),
            address,
            secrets,
        }
    }

    /// The log about the server.
    pub fn log(&self) -> &ServerLog {
        &self.log
    }

    /// The length of text beyond what is shown that has to be known.
    pub fn margin(&self) -> usize {
        self.secrets.margin()
    }

    /// The beginning of a text, as long as an error is shown. `more` if it went on beyond what is here.
    pub fn out_of(&self, text: &str, more: bool) -> String {
        self.secrets
            .hide_within(&self.without_address(text), MAX_SHOWN, more)
            .0
    }

    /// The same, however long it is.
    pub fn out_of_all(&self, text: &str) -> String {
        self.secrets.hide(&self.without_address(text))
    }

    fn without_address(&self, text: &str) -> String {
        match &self.address {
            Some(address) => text.replace(&**address, "•••"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn no_secret_of_any_setting_is_in_a_servers_words() {
        let file = r#"
            [[endpoints]]
            name = "e"
            base_url = "http://127.0.0.1:1/v1"
            headers = { Authorization = "Bearer others-0123" }

            [[mcp]]
            name = "x"
            url = "http://x/mcp?key=abc"
            headers = { authorization = "Bearer hush/hush", short = "no" }

            [[mcp]]
            name = "y"
            command = "run"
            args = ["--token", "arg-secret-1", "0123abcd4567efgh"]
            env = { API_KEY = "of the environment" }
        "#;
        let settings: Settings = toml::from_str(file).unwrap();
        let secrets = Arc::new(Secrets::of(&settings));
        let hidden = Hidden::new(&settings.mcp[0], secrets);
        let said = "no answer to Bearer hush/hush at http://x/mcp?key=abc, hush%2Fhush, hush\\/hush, arg-secret-1, \
                    0123abcd4567efgh, others-0123, of+the+environment";
        let expected = "no answer to ••• at •••, •••, •••, •••, •••, •••, •••";
        assert_eq!(hidden.out_of(said, false), expected);
        assert_eq!(hidden.out_of_all(said), expected);
        assert_eq!(hidden.out_of(&"é".repeat(MAX_SHOWN), false).len(), MAX_SHOWN);
    }
}
