//! The figures of the server for operators.

use std::{fs, net::SocketAddr};

use serde::Deserialize;

use super::{Secret, SettingPath, SettingsError};

/// The minimum length of the token, in characters: it may be guessed over the network.
const MIN_TOKEN_CHARS: usize = 16;

/// The figures of the server, in the text format of Prometheus (docs/operations.md). Without `addr` and without a token there are
/// none.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricSettings {
    /// An address of its own for `GET /metrics`, such as 127.0.0.1:9187, without accounts. If unset, there is none.
    #[serde(deserialize_with = "super::listen::deserialize_optional")]
    pub addr: Option<SocketAddr>,
    /// The file with the token that `GET /metrics` needs, at least 16 characters; or `PARLOR_METRICS_TOKEN`, which has precedence.
    /// With a token, the address of the page has the metrics, too. If both are unset, only `metrics.addr` has them, for
    /// everybody who can reach it.
    pub token_file: Option<SettingPath>,
    /// The token itself, read from the environment or the file.
    #[serde(skip)]
    pub token: Option<Secret>,
    /// The number of endpoints that have a label of their own. The calls of further ones are counted together.
    pub endpoints: usize,
}

impl Default for MetricSettings {
    fn default() -> Self {
        Self {
            addr: None,
            token_file: None,
            token: None,
            endpoints: 50,
        }
    }
}

impl MetricSettings {
    /// Reads the token from the environment or the file.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    pub(super) fn read_token(&mut self, env: impl Fn(&str) -> Option<String>) -> Result<(), SettingsError> {
        let token = match (env("PARLOR_METRICS_TOKEN"), &self.token_file) {
            (Some(token), _) => Some(token),
            (None, Some(path)) => {
                let read = fs::read_to_string(path);
                Some(read.map_err(|cause| SettingsError::MetricsToken {
                    path: path.to_path_buf(),
                    cause,
                })?)
            }
            (None, None) => None,
        };
        self.token = token.map(|token| Secret(token.trim().to_owned()));
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        match &self.token {
            Some(Secret(token)) if token.chars().count() < MIN_TOKEN_CHARS => {
                Err(SettingsError::ShortMetricsToken(MIN_TOKEN_CHARS))
            }
            _ => Ok(()),
        }
    }
}
