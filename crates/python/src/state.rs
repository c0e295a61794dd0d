//! What is known of the Python for models, as operators are told.

use std::sync::Arc;

use parlor_base::settings::Settings;

use super::environment::{Environment, Missing, Sandbox};

/// What is known of the Python for models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonState {
    /// Its name, and its sandbox.
    Found(String, Sandbox),
    /// Switched off by the settings.
    Off,
    /// The reason, with what to do.
    Missing(String),
    /// It is still being looked for.
    Unknown,
}

impl From<&Missing> for PythonState {
    fn from(missing: &Missing) -> Self {
        match missing {
            Missing::Disabled => Self::Off,
            missing => Self::Missing(missing.to_string()),
        }
    }
}

impl From<&Environment> for PythonState {
    fn from(environment: &Environment) -> Self {
        Self::Found(environment.name(), environment.sandbox.clone())
    }
}

impl From<Option<&Result<Environment, Arc<Missing>>>> for PythonState {
    fn from(found: Option<&Result<Environment, Arc<Missing>>>) -> Self {
        match found {
            None => Self::Unknown,
            Some(Ok(environment)) => environment.into(),
            Some(Err(missing)) => (&**missing).into(),
        }
    }
}

/// Looks for a Python and its sandbox. No session is started, and nothing is written.
pub async fn find(settings: &Settings) -> PythonState {
    match Environment::find(settings).await {
        Ok(environment) => (&environment).into(),
        Err(missing) => (&missing).into(),
    }
}
