//! Model calls of steps. The answer is JSON of a type; one that is not is sent back once with the error.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;

use super::step::{StepContext, StepError};
use crate::{
    agent::run_error,
    diagnostics::record::Purpose,
    journal_error,
    recorder::CallOwner,
    retry::{retry_wait, with_jitter},
    side_call::{SideCall, time_out},
};
use parlor_model::{ModelError, ModelErrorKind, ModelMessage, ModelRequest, lenient_json};
use parlor_protocol::{Parameters, RunError};

/// The maximum length of an answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 256 << 10;

/// The maximum lengths that a server keeps a text and a list of an answer to.
const MAX_TEXT_CHARS: usize = 600;
const MAX_ITEMS: usize = 50;

/// The status of answers that refuse what this call has, and not every call.
const REFUSED_CONTENT: [u16; 3] = [400, 413, 422];

const KEPT: &str = "The finished steps are kept. Continue the job, or start it again with another model.";

/// A question to the model.
#[derive(Clone, Debug)]
pub struct Question {
    /// The task of the model.
    pub instructions: String,
    /// The texts for the task, of strangers: the model follows no instructions in them.
    pub material: String,
}

impl StepContext<'_> {
    /// Asks the job's model, and returns its answer.
    ///
    /// # Errors
    ///
    /// Of the step if the answer is not of the type, twice, or the model refuses the content; of the job if the model can't be called; a
    /// limit if the user's is reached.
    pub async fn ask<T: DeserializeOwned + JsonSchema>(&self, question: &Question) -> Result<T, StepError> {
        let schema = schemars::schema_for!(T);
        let form = Arc::new(whole_objects(schema.as_value().clone()));
        let schema = serde_json::to_string(&schema).unwrap_or_default();
        let instructions = format!(
            "{}\n\nAnswer with one JSON object and nothing else. Its JSON Schema:\n{schema}",
            question.instructions
        );
        let mut messages = vec![
            ModelMessage::System(instructions),
            ModelMessage::User(question.material.clone()),
        ];
        let answer = self.call(messages.clone(), form.clone()).await?;
        let error = match read_object(&answer) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        messages.push(ModelMessage::assistant(answer));
        messages.push(ModelMessage::User(format!(
            "This is not what was asked for: {error}. Answer again, with the JSON object alone."
        )));
        let answer = self.call(messages, form).await?;
        read_object(&answer).map_err(|error| invalid_answer(&error))
    }

    /// Calls the model, again if its server is busy or breaks off.
    async fn call(&self, messages: Vec<ModelMessage>, form: Arc<Value>) -> Result<String, StepError> {
        let runs = &self.job.jobs().runs.0;
        let settings = &self.job.jobs().settings;
        let model = self.job.model();
        let models = Arc::new(runs.models.of_user(self.user_id()));
        let parameters = Parameters {
            max_completion_tokens: Some(settings.answer_tokens),
            ..Parameters::default()
        };
        let request = ModelRequest {
            parameters: models.adapt_parameters(model, &parameters),
            answer_schema: Some(form),
            ..ModelRequest::new(model, messages)
        };
        let mut retry = 0;
        loop {
            let allowed = runs.check_call(self.user_id(), model).await;
            let allowed = allowed.map_err(|error| {
                let error = journal_error(error);
                StepError::of_job("storage", format!("Your limits can't be read: {error}."), KEPT)
            })?;
            allowed.map_err(|refusal| StepError::Limit(refusal.into_model_error().error))?;
            let owner = CallOwner::Step {
                job: self.job.key(),
                key: self.key.to_owned(),
            };
            let call = Arc::new(SideCall::new(
                runs,
                models.clone(),
                owner,
                Purpose::Step,
                "a step of a job",
            ));
            self.begin_call(call.clone());
            let cut = time_out(settings.call_timeout);
            let answer = call.run(request.clone(), cut, MAX_ANSWER_BYTES).await;
            self.end_call(&call, answer.totals);
            if let Some(text) = answer.text {
                return Ok(text);
            }
            if answer.cut.is_some() {
                return Err(StepError::of_job(
                    "too_long",
                    "The model did not finish its answer in time.",
                    "The limit is the setting jobs.call_timeout. The finished steps are kept: continue the job.",
                ));
            }
            let Some(failure) = answer.failure else {
                return Err(StepError::of_step(
                    "incomplete_answer",
                    "The model's answer was incomplete, refused or repeated itself.",
                    "The diagnostics of the job show it. The limit of its length is the setting jobs.answer_tokens.",
                ));
            };
            retry += 1;
            let Some(wait) = wait_for(&failure, retry) else {
                return Err(into_step_error(failure));
            };
            sleep(with_jitter(wait)).await;
        }
    }
}

/// Returns the wait before a retry of a call that may succeed then. The first retry is 1.
fn wait_for(failure: &ModelError, retry: u32) -> Option<Duration> {
    match failure.kind {
        ModelErrorKind::Refused => None,
        ModelErrorKind::Unavailable { after } => retry_wait(after, retry),
        ModelErrorKind::StreamBroken => retry_wait(None, retry),
    }
}

fn into_step_error(failure: ModelError) -> StepError {
    let is_about_content = failure.kind == ModelErrorKind::Refused
        && failure
            .reply
            .as_ref()
            .is_some_and(|reply| REFUSED_CONTENT.contains(&reply.status));
    let RunError { code, message, hint } = failure.error;
    match is_about_content {
        true => StepError::OfStep(RunError { code, message, hint }),
        false => StepError::OfJob(run_error(
            &code,
            message,
            if hint.is_empty() { KEPT } else { &hint },
        )),
    }
}

/// Returns a schema in which each object has all of its properties and no others, and texts and lists end: kept to it, a small model
/// fills in what it would leave out, and comes to an end.
fn whole_objects(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            fields.remove("$schema");
            if let Some(Value::Object(properties)) = fields.get("properties") {
                let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
                names.sort_unstable();
                let names: Vec<Value> = names.into_iter().map(Value::from).collect();
                fields.insert("required".into(), names.into());
                fields.insert("additionalProperties".into(), false.into());
            }
            // A small model may repeat itself until the call's time is over.
            match fields.get("type").and_then(Value::as_str) {
                Some("string") if !fields.contains_key("enum") => {
                    fields.entry("maxLength").or_insert(MAX_TEXT_CHARS.into());
                }
                Some("array") => {
                    fields.entry("maxItems").or_insert(MAX_ITEMS.into());
                }
                _ => {}
            }
            for value in fields.values_mut() {
                *value = whole_objects(value.take());
            }
        }
        Value::Array(values) => {
            for value in values {
                *value = whole_objects(value.take());
            }
        }
        _ => {}
    }
    schema
}

/// Reads the object in an answer, whatever stands around it.
fn read_object<T: DeserializeOwned>(answer: &str) -> Result<T, String> {
    let object = match (answer.find('{'), answer.rfind('}')) {
        (Some(start), Some(end)) if start < end => &answer[start..=end],
        _ => return Err("there is no JSON object".into()),
    };
    lenient_json::parse(object).map_err(|error| error.to_string())
}

fn invalid_answer(error: &str) -> StepError {
    StepError::of_step(
        "invalid_answer",
        format!("The model's answer is not what was asked for, twice: {error}."),
        "The diagnostics of the job show it. Another model may do better.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::ErrorReply;
    use serde_json::json;

    #[test]
    fn reads_an_object_whatever_stands_around_it() {
        for (answer, read) in [
            ("{\"a\": 1}", Some(json!({ "a": 1 }))),
            (
                "Sure:\n```json\n{\"a\": {\"b\": 2}}\n```",
                Some(json!({ "a": { "b": 2 } })),
            ),
            ("{\"a\": 1,}", Some(json!({ "a": 1 }))),
            ("no", None),
            ("} {", None),
            ("{\"a\": ", None),
        ] {
            assert_eq!(read_object::<Value>(answer).ok(), read, "{answer}");
        }
    }

    #[test]
    fn every_property_of_an_answer_is_required() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": { "A": { "type": "object", "properties": { "b": { "type": "string", "default": "" } } } },
            "properties": { "list": { "type": "array", "items": { "$ref": "#/$defs/A" } }, "count": { "type": "integer" } },
            "required": ["list"],
        });
        let whole = json!({
            "$defs": { "A": {
                "type": "object", "properties": { "b": { "type": "string", "default": "", "maxLength": 600 } }, "required": ["b"],
                "additionalProperties": false,
            } },
            "properties": { "list": { "type": "array", "maxItems": 50, "items": { "$ref": "#/$defs/A" } }, "count": { "type": "integer" } },
            "required": ["count", "list"],
            "additionalProperties": false,
        });
        assert_eq!(whole_objects(schema), whole);
    }

    #[test]
    fn only_refused_content_is_a_result() {
        let failure = |kind, status: Option<u16>| ModelError {
            error: run_error("code", "It failed.".into(), ""),
            kind,
            reply: status.map(|status| ErrorReply {
                status,
                text: String::new(),
            }),
        };
        let busy = ModelErrorKind::Unavailable { after: None };
        for (failure, is_of_step, is_retried) in [
            (failure(ModelErrorKind::Refused, Some(400)), true, false),
            (failure(ModelErrorKind::Refused, Some(401)), false, false),
            (failure(ModelErrorKind::Refused, None), false, false),
            (failure(busy, Some(429)), false, true),
            (failure(ModelErrorKind::StreamBroken, None), false, true),
        ] {
            assert_eq!(wait_for(&failure, 1).is_some(), is_retried);
            let error = into_step_error(failure);
            assert_eq!(matches!(error, StepError::OfStep(_)), is_of_step, "{error:?}");
        }
    }
}
