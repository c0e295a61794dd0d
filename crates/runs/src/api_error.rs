//! Errors of runs as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::{CallRefusal, FileNotTaken, StartError, StopError};
use parlor_base::text::{join_first, truncate_chars};
use parlor_protocol::{ApiError, ErrorCode, FileProblem};
use parlor_providers::UnknownModel;
use parlor_storage::ChangeRejection;

/// The maximum number of models that the error for an unknown model lists.
const MAX_LISTED_MODELS: usize = 20;

/// The maximum length of the unknown model name that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Returns the error for invalid parameters. It names each one and the reason.
pub fn invalid_parameters(wrong: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidParameters,
        format!("{wrong} Nothing was changed."),
    )
}

impl From<StopError> for ApiError {
    fn from(error: StopError) -> Self {
        match error {
            StopError::NotStored => Self::new(
                ErrorCode::Unavailable,
                "The answer is stopped, but Parlor can't store that just now. It will as soon as it can; the log says more.",
            ),
            StopError::Storage(error) => error.into(),
        }
    }
}

/// Returns the error for a name that means no model, or several.
fn unknown_model_error(unknown: &UnknownModel) -> ApiError {
    let UnknownModel {
        message,
        models,
        hint,
    } = unknown;
    let named = join_first(models, MAX_LISTED_MODELS);
    let others = match models.len() {
        0 => "GET /api/models lists the models.".to_owned(),
        1..=MAX_LISTED_MODELS => format!("Choose one of these: {named}."),
        _ => format!("Choose one of these: {named} (GET /api/models has all)."),
    };
    let message = truncate_chars(message, MAX_QUOTED_CHARS);
    ApiError::new(
        ErrorCode::UnknownModel,
        format!("{message} Nothing was changed. {others} {hint}").trim_end(),
    )
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Empty => ChangeRejection::EmptyMessage.into(),
            StartError::TooLong { length, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "Your message is too long: {length} of at most {limit} bytes (setting limits.message_bytes). Nothing was sent; \
                     shorten it, or attach a part of it as a file."
                ),
            ),
            StartError::TooManyFiles { count, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "Your message has {count} files, more than {limit} (setting files.max_count). Nothing was sent; remove some."
                ),
            ),
            StartError::FileNotTaken(file) => file_not_taken(&file),
            StartError::UnknownTool { name, offered } => {
                let tools = match offered.as_slice() {
                    [] => "No tools are offered.".to_owned(),
                    offered => format!("The tools are: {}.", offered.join(", ")),
                };
                Self::new(
                    ErrorCode::UnknownTool,
                    format!("There is no tool “{name}” to be used. Nothing was changed. {tools}"),
                )
            }
            StartError::UnknownModel(unknown) => unknown_model_error(&unknown),
            StartError::Refused(refusal) => refused(&refusal),
            StartError::Parameters(wrong) => invalid_parameters(&wrong),
            StartError::ShuttingDown => Self::new(
                ErrorCode::Unavailable,
                "Parlor is shutting down. Nothing was sent; send it again when it is back.",
            ),
            StartError::Context(error) => error.into(),
            StartError::Journal(error) => error.into(),
        }
    }
}

fn refused(refusal: &CallRefusal) -> ApiError {
    let code = match refusal {
        CallRefusal::Model { .. } => ErrorCode::ModelNotAllowed,
        CallRefusal::Tokens { .. }
        | CallRefusal::Cost { .. }
        | CallRefusal::RunCost { .. }
        | CallRefusal::Runs { .. } => ErrorCode::LimitReached,
    };
    let message = format!(
        "{} Nothing was sent or changed; what you wrote is kept. {}",
        refusal.reason(),
        refusal.advice()
    );
    let wait = refusal.retry_after();
    ApiError::new(code, message).with_retry_after(wait.map(|wait| wait.as_secs().max(1)))
}

/// The maximum number of models that the error about a file lists.
const MAX_LISTED_ALTERNATIVES: usize = 5;

fn file_not_taken(file: &FileNotTaken) -> ApiError {
    let FileNotTaken {
        name,
        is_image,
        problem,
        model,
        others,
    } = file;
    let what = if *is_image { "images" } else { "PDF files" };
    let refused = match problem {
        Some(FileProblem::NoText) => {
            format!("{name} has no text, only images, and {model} does not read {what}.")
        }
        Some(_) => format!("No text of {name} could be read, and {model} does not read {what}."),
        None => format!("{model} does not read {what}, such as {name}."),
    };
    let others = match others.as_slice() {
        [] => format!("No listed model is known to read {what}."),
        others => format!(
            "These do: {}.",
            others[..others.len().min(MAX_LISTED_ALTERNATIVES)].join(", ")
        ),
    };
    ApiError::new(
        ErrorCode::FileNotTaken,
        format!("{refused} {others} Nothing was sent: choose another model, or remove the file."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_model_error_lists_the_models() {
        let said = |count: usize| {
            let models = (0..count).map(|number| format!("x/{number}")).collect();
            let message = "It is not there.".into();
            let hint = String::new();
            unknown_model_error(&UnknownModel {
                message,
                models,
                hint,
            })
            .message
        };
        let begin = "It is not there. Nothing was changed.";
        assert_eq!(said(0), format!("{begin} GET /api/models lists the models."));
        assert_eq!(said(2), format!("{begin} Choose one of these: x/0, x/1."));
        assert!(said(30).ends_with("x/19, or one of 10 more (GET /api/models has all)."));
    }
}
