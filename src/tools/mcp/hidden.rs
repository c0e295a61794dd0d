//! What is said of a server, without what it was given: keys, tokens, its address with a key in it.

use std::sync::Arc;

use super::log::ServerLog;
use crate::settings::{McpServer, mcp::Reached};

/// What a server was given and must not appear where it is spoken of.
#[derive(Clone)]
pub struct Hidden {
    log: ServerLog,
    secrets: Arc<[String]>,
}

/// Shorter ones would be found in every other word.
const SHORTEST_SECRET: usize = 5;

/// An error is as long as this at most.
const SHOWN: usize = 1000;

impl Hidden {
    pub fn new(settings: &McpServer) -> Self {
        let values = settings.variables().values.values().map(|value| value.0.clone());
        let address = match &settings.reached {
            Reached::Url { url, .. } if url.contains(['@', '?']) => Some(url.clone()),
            _ => None,
        };
        let secrets = values
            .chain(address)
            .filter(|secret| secret.len() >= SHORTEST_SECRET);
        Self {
            log: ServerLog::new(&settings.name),
            secrets: secrets.collect(),
        }
    }

    /// The log about the server.
    pub fn log(&self) -> &ServerLog {
        &self.log
    }

    pub fn out_of(&self, text: &str) -> String {
        let mut text = self.out_of_all(text);
        text.truncate(text.floor_char_boundary(SHOWN));
        text
    }

    /// The same, however long it is.
    pub fn out_of_all(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &*self.secrets {
            text = text.replace(secret, "•••");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn what_a_server_was_given_is_not_in_what_is_said_of_it() {
        let file = "[[mcp]]\nname = 'x'\nurl = 'http://x/mcp?key=abc'\nheaders = { a = 'Bearer hush', short = 'no' }";
        let settings: Settings = toml::from_str(file).unwrap();
        let hidden = Hidden::new(&settings.mcp[0]);
        let error = "no answer to Bearer hush at http://x/mcp?key=abc";
        assert_eq!(hidden.out_of(error), "no answer to ••• at •••");
        assert_eq!(hidden.out_of(&"é".repeat(SHOWN)).len(), SHOWN);
    }
}
