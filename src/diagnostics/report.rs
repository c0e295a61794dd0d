//! What was written down of an answer, put together. The names of the first fields are those of the public contract.

use serde::Serialize;
use serde_json::{Map, Value};

use super::record::{
    CallFailure, Purpose, RawAnswer, RequestRecord, ResponseRecord, TimelineEntry, TokenUsage, redact_value,
};
use crate::{
    model::Cost,
    protocol::{AssistantMessage, ConversationId, Message, MessageId, RawJson, RunStatus, Timestamp},
    storage::{PageContextSnapshot, RecordedCall, StorageError, damage::skip_damaged},
};

/// How an answer was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnostics {
    pub message_id: MessageId,
    pub conversation_id: ConversationId,
    /// Where the run stands.
    pub status: RunStatus,
    /// As `endpoint/model`.
    pub model: String,
    pub max_tokens: Option<u64>,
    pub max_iterations: usize,
    pub temperature: Option<f64>,
    /// The names of the tools that the last call offered.
    pub tools: Vec<String>,
    pub system_prompt: String,
    /// What the last call sent, the system prompt aside.
    pub messages: Vec<Value>,
    /// What the person was looking at when they asked, by ids.
    pub context: Option<Value>,
    /// What the model was told of that.
    pub context_text: Option<String>,
    /// What the model said in all calls for the answer, before anything was taken out of it.
    pub raw_llm_response: String,
    /// The address that the model is served at.
    pub address: String,
    /// All that the last call sent besides messages and tools.
    pub parameters: Map<String, Value>,
    /// The tools as the model is told of them.
    pub tool_definitions: Vec<RawJson>,
    /// Of all calls that the server has counted.
    pub usage: Option<TokenUsage>,
    /// Of all calls, in US dollars; unknown if it is unknown of one.
    pub cost: Option<f64>,
    /// From the first call to the first thing that the model said.
    pub first_token_ms: Option<u64>,
    /// From the run's start to its end.
    pub duration_ms: Option<u64>,
    /// How often a call was made again.
    pub retries: usize,
    pub calls: Vec<CallReport>,
    pub timeline: Vec<TimelineEntry>,
}

/// One call of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallReport {
    pub started_at: Timestamp,
    pub status: RunStatus,
    pub purpose: Purpose,
    pub model: String,
    pub address: String,
    pub parameters: Map<String, Value>,
    pub tools: Vec<String>,
    /// Whether all messages of the call before came before these.
    pub goes_on: bool,
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

impl Diagnostics {
    /// Nothing if no call of this answer is known (any more).
    ///
    /// # Errors
    ///
    /// If storage does not work. A call that can't be read is left out.
    pub fn load(
        conversation_id: ConversationId,
        message: &Message,
        recorded: &[RecordedCall],
    ) -> Result<Option<Self>, StorageError> {
        let Some(answer) = message.assistant() else {
            return Ok(None);
        };
        let mut read = Vec::with_capacity(recorded.len());
        for call in recorded {
            let parts = || -> Result<(RequestRecord, ResponseRecord), StorageError> {
                let request = serde_json::from_str(call.request.as_deref().unwrap_or_default())?;
                Ok((request, serde_json::from_str(&call.response)?))
            };
            read.extend(skip_damaged("model_calls", call.id, parts())?);
        }
        Ok(assemble(conversation_id, message, answer, read))
    }

    /// The same, with what the person was looking at when they asked.
    ///
    /// # Errors
    ///
    /// If that can't be written as JSON.
    pub fn with_context(
        mut self,
        page_context: &PageContextSnapshot,
        secrets: &crate::secrets::Secrets,
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
    read: Vec<(RequestRecord, ResponseRecord)>,
) -> Option<Diagnostics> {
    let mut messages = Vec::new();
    let mut tools = Vec::new();
    let (mut calls, mut timeline) = (Vec::new(), vec![start_entry(message)]);
    let mut last = None;
    for (request, response) in read {
        timeline.extend(response.events.iter().cloned());
        // It stands for itself: those that give the answer go on from each other.
        if request.purpose == Purpose::Summary {
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
        ));
        calls.push(call_report(request, response, tool_names(&tools), answer.status));
    }
    if calls.is_empty() {
        return None;
    }
    // A run may have been stopped while its beginning was summarised: nothing was sent for the answer then.
    let (parameters, address, max_iterations) = last.unwrap_or_default();
    let system_prompt = match messages.first() {
        Some(first) if first["role"] == "system" => {
            let first: Value = messages.remove(0);
            first["content"].as_str().unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    let first_token_ms = answer_calls(&calls).next().and_then(|call| call.first_token_ms);
    let number = |name: &str| parameters.get(name).and_then(Value::as_u64);
    Some(Diagnostics {
        message_id: message.id,
        conversation_id,
        status: answer.status,
        model: answer.model.clone(),
        max_tokens: number("max_completion_tokens").or_else(|| number("max_tokens")),
        max_iterations,
        temperature: parameters.get("temperature").and_then(Value::as_f64),
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

/// The one event that the storage makes and no call has.
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
    // A call whose end nobody has seen ended with the run: the process went away.
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
    struct Tool {
        function: Function,
    }
    #[derive(serde::Deserialize)]
    struct Function {
        name: String,
    }
    let name = |tool: &RawJson| {
        serde_json::from_str::<Tool>(tool.as_str())
            .ok()
            .map(|tool| tool.function.name)
    };
    tools.iter().filter_map(name).collect()
}

/// Those that give the answer.
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
    })
}

/// Summed as whole billionths.
fn total_cost(calls: &[CallReport]) -> Option<f64> {
    let each = calls.iter().map(|call| call.cost.and_then(Cost::from_dollars));
    let nanos: Option<u64> = each.map(|cost| cost.map(|cost| cost.0)).sum();
    nanos.map(|nanos| Cost(nanos).dollars())
}

fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.0 - from.0).unwrap_or_default()
}
