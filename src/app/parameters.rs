//! The model parameters of a conversation.

use super::Caller;
use parlor_protocol::{ApiError, Parameters, intent::SetParameters};
use parlor_runs::invalid_parameters;
use parlor_storage::{Change, IntentChange};

/// Sets a conversation's parameters.
///
/// # Errors
///
/// If one of them has no valid value. Nothing is changed then.
pub async fn set(caller: &Caller, intent: SetParameters, fingerprint: String) -> Result<(), ApiError> {
    let parameters = Parameters::parse(&intent.parameters).map_err(|wrong| invalid_parameters(&wrong))?;
    let change = Change::Intent {
        user_id: caller.user_id,
        change: IntentChange::SetParameters {
            intent,
            parameters,
            fingerprint,
        },
    };
    caller.app.journal.submit(change).await?;
    Ok(())
}
