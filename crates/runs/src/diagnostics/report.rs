//! The diagnostics report of an answer, combined from the records of its calls. The names of the first fields
//! are part of the public contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    record::{CallFailure, Purpose, RawAnswer, RequestRecord, ResponseRecord, TokenUsage},
    redaction::redact_value,
    timeline::TimelineEntry,
};
use parlor_protocol::{
    AssistantMessage, ConversationId, Dollars, Message, MessageId, PageContext, RawJson, RunStatus, Timestamp,
};
use parlor_storage::{PageContextSnapshot, RecordedModelCall, StorageError, damage::skip_damaged};

/// The diagnostics of an answer. They never contain keys or passwords.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Diagnostics {
    pub message_id: MessageId,
    pub conversation_id: ConversationId,
    /// The status of the run.
    pub status: RunStatus,
    /// The model's id, `endpoint/model`.
    pub model: String,
    /// The maximum length of the answer in tokens, if the request had one.
    pub max_tokens: Option<u64>,
    /// The maximum number of model calls that may request tools.
    pub max_iterations: usize,
    pub temperature: Option<f64>,
    /// The names of the tools in the last request.
    pub tools: Vec<String>,
    pub system_prompt: String,
    /// The messages of the last request without the system prompt.
    #[schemars(with = "Vec<SentMessage>")]
    pub messages: Vec<Value>,
    /// The context of the request: the objects that the user was viewing; null if it had none.
    #[schemars(with = "Option<PageContext>")]
    pub context: Option<Value>,
    /// The context as sent to the model; null if the request had none.
    pub context_text: Option<String>,
    /// The model's raw output in all calls for the answer, before any filtering.
    pub raw_llm_response: String,
    /// The endpoint's URL, without userinfo and query.
    pub address: String,
    /// All parameters of the last request besides messages and tools.
    pub parameters: Map<String, Value>,
    /// The tools' definitions for the model.
    pub tool_definitions: Vec<RawJson>,
    /// The usage of all calls with counts from the server.
    pub usage: Option<TokenUsage>,
    /// The cost of all calls in US dollars; null if the cost of one is unknown.
    pub cost: Option<f64>,
    /// The time from the start of the first call to the model's first output, in milliseconds.
    pub first_token_ms: Option<u64>,
    /// The duration of the run, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The number of retried calls.
    pub retries: usize,
    pub calls: Vec<CallReport>,
    pub timeline: Vec<TimelineEntry>,
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ModelCall")]
pub struct CallReport {
    pub started_at: Timestamp,
    pub status: RunStatus,
    pub purpose: Purpose,
    pub model: String,
    pub address: String,
    pub parameters: Map<String, Value>,
    pub tools: Vec<String>,
    /// True if these messages follow all messages of the previous call.
    pub goes_on: bool,
    #[schemars(with = "Vec<SentMessage>")]
    pub messages: Vec<Value>,
    pub first_token_ms: Option<u64>,
    pub duration_ms: Option<u64>,
    pub finish_reason: Option<String>,
    pub usage: Option<TokenUsage>,
    pub cost: Option<f64>,
    pub retries: usize,
    pub failures: Vec<CallFailure>,
    pub response: RawAnswer,
}

/// A call of the model for a step of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepCall {
    /// The key of the step.
    pub step: String,
    #[serde(flatten)]
    pub call: CallReport,
}

impl StepCall {
    /// Returns the calls of a job with this status, oldest first. An unreadable one is left out.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub fn load(
        recorded: Vec<(String, RecordedModelCall)>,
        status: RunStatus,
    ) -> Result<Vec<Self>, StorageError> {
        let mut calls = Vec::with_capacity(recorded.len());
        for (step, call) in recorded {
            if let Some((request, response)) = skip_damaged("job_calls", call.id, read_records(&call))? {
                let call = call_report(request, response, Vec::new(), status);
                calls.push(Self { step, call });
            }
        }
        Ok(calls)
    }
}

fn read_records(call: &RecordedModelCall) -> Result<(RequestRecord, ResponseRecord), StorageError> {
    let request = serde_json::from_str(call.request.as_deref().unwrap_or_default())?;
    Ok((request, serde_json::from_str(&call.response)?))
}

/// A message as sent, in the form of the model server's API, as the OpenAPI document describes it.
enum SentMessage {}

impl JsonSchema for SentMessage {
    fn schema_name() -> Cow<'static, str> {
        "SentMessage".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A message as sent; `{\"omitted\": N}` in place of N older ones.",
            "type": "object",
            "properties": {
                "role": { "type": "string" },
                "content": { "description": "A text, or a list of parts." },
                "tool_calls": { "type": "array", "items": {} },
                "tool_call_id": { "type": "string" },
                "omitted": { "type": "integer" },
            },
            "additionalProperties": true,
        })
    }
}

impl Diagnostics {
    /// Loads the report of an answer. Returns `None` if no call of it is stored (any more).
    ///
    /// # Errors
    ///
    /// If the storage fails. An unreadable call is left out.
    pub fn load(
        conversation_id: ConversationId,
        message: &Message,
        recorded: &[RecordedModelCall],
    ) -> Result<Option<Self>, StorageError> {
        let Some(answer) = message.assistant() else {
            return Ok(None);
        };
        let mut records = Vec::with_capacity(recorded.len());
        for call in recorded {
            records.extend(skip_damaged("model_calls", call.id, read_records(call))?);
        }
        Ok(assemble(conversation_id, message, answer, records))
    }

    /// Adds the page context of the question.
    ///
    /// # Errors
    ///
    /// If the context can't be written as JSON.
    pub fn with_context(
        mut self,
        page_context: &PageContextSnapshot,
        secrets: &parlor_base::secrets::Secrets,
    ) -> Result<Self, StorageError> {
        let mut context = serde_json::to_value(&page_context.context)?;
        redact_value(&mut context, secrets);
        self.context = Some(context);
        self.context_text = Some(secrets.redact(&page_context.text));
        Ok(self)
    }
}

fn assemble(
    conversation_id: ConversationId,
    message: &Message,
    answer: &AssistantMessage,
    records: Vec<(RequestRecord, ResponseRecord)>,
) -> Option<Diagnostics> {
    let mut messages = Vec::new();
    let mut tools = Vec::new();
    let (mut calls, mut timeline) = (Vec::new(), vec![start_entry(message)]);
    let mut last = None;
    for (request, response) in records {
        timeline.extend(response.events.iter().cloned());
        // The messages of a summary or a title are its own: only the calls of the answer extend each other's messages.
        if request.purpose != Purpose::Answer {
            calls.push(call_report(request, response, Vec::new(), answer.status));
            continue;
        }
        if !request.goes_on {
            messages.clear();
        }
        messages.extend(request.messages.iter().cloned());
        if let Some(offered) = &request.tools {
            tools.clone_from(offered);
        }
        last = Some((
            request.parameters.clone(),
            request.address.clone(),
            request.max_iterations,
            (request.max_tokens, request.temperature),
        ));
        calls.push(call_report(request, response, tool_names(&tools), answer.status));
    }
    if calls.is_empty() {
        return None;
    }
    // The run may have been stopped during the summary: then no request was sent for the answer.
    let (parameters, address, max_iterations, (max_tokens, temperature)) = last.unwrap_or_default();
    let system_prompt = match messages.first() {
        Some(first) if first["role"] == "system" => {
            let first: Value = messages.remove(0);
            first["content"].as_str().unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    let first_token_ms = answer_calls(&calls).next().and_then(|call| call.first_token_ms);
    Some(Diagnostics {
        message_id: message.id,
        conversation_id,
        status: answer.status,
        model: answer.model.clone(),
        max_tokens,
        max_iterations,
        temperature,
        tools: tool_names(&tools),
        system_prompt,
        messages,
        context: None,
        context_text: None,
        raw_llm_response: raw_text(&calls),
        address,
        parameters,
        tool_definitions: tools,
        usage: total_usage(&calls),
        cost: total_cost(&calls),
        first_token_ms,
        duration_ms: answer
            .ended_at
            .map(|ended_at| elapsed_ms(message.created_at, ended_at)),
        retries: calls.iter().map(|call| call.retries).sum(),
        calls,
        timeline,
    })
}

/// Returns the entry of the run's start, which is an event of the storage and not of a call.
fn start_entry(message: &Message) -> TimelineEntry {
    TimelineEntry {
        at: message.created_at,
        kind: "run_started".into(),
        detail: None,
        count: 1,
        until: message.created_at,
    }
}

fn call_report(
    request: RequestRecord,
    response: ResponseRecord,
    tools: Vec<String>,
    run: RunStatus,
) -> CallReport {
    // A call without a recorded end ended with the run: the process stopped.
    let broke_off = response.status == RunStatus::Running && run.is_terminal();
    let status = if broke_off {
        RunStatus::Interrupted
    } else {
        response.status
    };
    CallReport {
        started_at: request.started_at,
        status,
        purpose: request.purpose,
        model: request.model,
        address: request.address,
        parameters: request.parameters,
        tools,
        goes_on: request.goes_on,
        messages: request.messages,
        first_token_ms: response.first_token_ms,
        duration_ms: response.duration_ms,
        finish_reason: response.finish_reason,
        usage: response.usage,
        cost: response.cost,
        retries: response.retries,
        failures: response.failures,
        response: response.raw,
    }
}

fn tool_names(tools: &[RawJson]) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct SentTool {
        function: SentFunction,
    }
    #[derive(serde::Deserialize)]
    struct SentFunction {
        name: String,
    }
    let name = |tool: &RawJson| {
        serde_json::from_str::<SentTool>(tool.as_str())
            .ok()
            .map(|tool| tool.function.name)
    };
    tools.iter().filter_map(name).collect()
}

/// Returns the calls for the answer.
fn answer_calls(calls: &[CallReport]) -> impl Iterator<Item = &CallReport> {
    calls.iter().filter(|call| call.purpose == Purpose::Answer)
}

fn raw_text(calls: &[CallReport]) -> String {
    let texts = answer_calls(calls).map(|call| call.response.text.as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

fn total_usage(calls: &[CallReport]) -> Option<TokenUsage> {
    let counted = calls.iter().filter_map(|call| call.usage);
    counted.reduce(|sum, usage| TokenUsage {
        input_tokens: sum.input_tokens + usage.input_tokens,
        output_tokens: sum.output_tokens + usage.output_tokens,
        cached_input_tokens: sum.cached_input_tokens + usage.cached_input_tokens,
        cache_write_tokens: sum.cache_write_tokens + usage.cache_write_tokens,
        thinking_tokens: sum.thinking_tokens + usage.thinking_tokens,
        image_input_tokens: sum.image_input_tokens + usage.image_input_tokens,
        image_output_tokens: sum.image_output_tokens + usage.image_output_tokens,
    })
}

/// The sum in integer billionths.
fn total_cost(calls: &[CallReport]) -> Option<f64> {
    let each = calls.iter().map(|call| call.cost.and_then(Dollars::from_f64));
    let nanos: Option<u64> = each.map(|cost| cost.map(|cost| cost.0)).sum();
    nanos.map(|nanos| Dollars(nanos).to_f64())
}

fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.0 - from.0).unwrap_or_default()
}
