//! Tool calls as the agent sees them: starting calls, reporting invalid ones to the model, and the next step
//! after all have ended. The tools themselves are in `tools`.

use serde_json::{Map, Value};

use super::{Agent, Effect, Phase, control::escape_metadata};
use parlor_model::{ToolArtifacts, ToolOutcome, ToolPlan, lenient_json};
use parlor_protocol::{
    Part, ProviderData, RawJson, RequestedCall, RunEvent, RunStatus, Timestamp, TokenTotals, ToolCall,
    ToolProgress, ToolStatus, Usage, transcript::apply_to_run,
};

/// A call that the model is requesting.
#[derive(Clone, Debug, Default)]
pub struct IncomingCall {
    /// The index among the calls of this answer.
    pub(super) index: usize,
    id: String,
    tool: String,
    pub(super) arguments: String,
    /// The provider data of the call.
    pub(super) provider_data: Vec<ProviderData>,
    /// True if the answer ended before the call's arguments were complete.
    is_cut: bool,
}

/// The maximum number of calls in one answer. Further calls are ignored: a model that requests so many at
/// once has lost its way.
const MAX_CALLS_PER_ANSWER: usize = 32;

const DENIED: &str = "The person did not allow this call. Do without it, or ask them what to do instead.";
const CUT_OFF: &str = "The answer reached its maximum length before the arguments of this call were complete. The tool was not \
                       run. Call it again, with less text before it or with shorter arguments.";
const OUTCOME_UNKNOWN: &str = "The outcome of this call is unknown: it was broken off after it had begun. It may have had its effect \
                               or not. Find that out before you call it again.";

impl Agent {
    pub(super) fn add_incoming_call(&mut self, index: usize, id: String, tool: String) -> Vec<Effect> {
        if !self.may_use_tools() || self.incoming_calls.len() == MAX_CALLS_PER_ANSWER {
            self.has_refused_calls |= !self.may_use_tools();
            return Vec::new();
        }
        // The name appears in a message's metadata, which only Parlor writes. No real tool has such a name.
        let tool = escape_metadata(&tool).into_owned();
        let message = format!("Calling {tool}...");
        self.incoming_calls.push(IncomingCall {
            index,
            id,
            tool,
            arguments: String::new(),
            provider_data: Vec::new(),
            is_cut: false,
        });
        vec![self.log(RunEvent::Status { message })]
    }

    /// Starts a run or continues it from its stored state. Calls without an outcome are run, rejected or
    /// submitted for approval.
    pub(super) fn start_or_resume_calls(&mut self, at: Timestamp) -> Vec<Effect> {
        let open: Vec<ToolCall> = self
            .message
            .tool_calls()
            .filter(|call| call.output.is_none())
            .cloned()
            .collect();
        if open.is_empty() {
            return self.start_model_call();
        }
        let mut effects = Vec::new();
        for call in open {
            let plan = self.tools.plan(&call.tool, &arguments_text(&call.input));
            match (call.status, plan) {
                (ToolStatus::Denied, plan) => {
                    let label = plan.map_or(call.tool.clone(), |plan| plan.label);
                    self.fail_call(call.index, label, ToolStatus::Denied, DENIED, at, &mut effects);
                }
                // The call may have had an effect, even if its tool is unavailable now.
                (_, plan)
                    if call.started_at.is_some() && !plan.as_ref().is_ok_and(|plan| plan.is_idempotent) =>
                {
                    let label = plan.map_or(call.label, |plan| plan.label);
                    let status = ToolStatus::Failed;
                    self.fail_call(call.index, label, status, OUTCOME_UNKNOWN, at, &mut effects);
                }
                (_, Err(fault)) => {
                    let status = ToolStatus::Failed;
                    self.fail_call(call.index, call.label, status, &fault, at, &mut effects);
                }
                (ToolStatus::Allowed, Ok(plan)) => {
                    self.run_call(self.to_requested_call(call), plan, at, &mut effects)
                }
                (_, Ok(plan)) if plan.needs_approval => {
                    self.request_approval(self.to_requested_call(call), plan, &mut effects)
                }
                (_, Ok(plan)) => self.run_call(self.to_requested_call(call), plan, at, &mut effects),
            }
        }
        self.continue_run(effects, at)
    }

    /// Marks the requested calls without complete arguments, in an answer that was cut short. Complete ones are
    /// an object, whose end is explicit: decoders add no arguments that the server has not sent. A call before the last
    /// one may have none.
    pub(super) fn mark_cut_calls(&mut self) {
        let last = self.incoming_calls.len().saturating_sub(1);
        for (index, call) in self.incoming_calls.iter_mut().enumerate() {
            let has_none = call.arguments.is_empty() && index < last;
            let arguments = lenient_json::tool_arguments(&call.arguments);
            let arguments = serde_json::from_str::<Map<String, Value>>(&arguments);
            call.is_cut = arguments.is_err() && !has_none;
        }
    }

    /// Starts the calls that the model has requested.
    pub(super) fn dispatch_calls(&mut self, at: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let first = self.message.tool_calls().count();
        for (requested, index) in std::mem::take(&mut self.incoming_calls).into_iter().zip(first..) {
            let (node, part) = self.call_position(index);
            let arguments = lenient_json::tool_arguments(&requested.arguments);
            effects.extend(
                requested
                    .provider_data
                    .into_iter()
                    .map(|data| Effect::StoreProviderData {
                        node,
                        part: Some(part),
                        data,
                    }),
            );
            let call = RequestedCall {
                node,
                part,
                index,
                tool_use_id: self.unique_call_id(requested.id, index),
                input: RawJson::parse_or_quote(&arguments),
                label: requested.tool.clone(),
                tool: requested.tool,
                detail: None,
            };
            let plan = match requested.is_cut {
                true => Err(CUT_OFF.into()),
                false => self.tools.plan(&call.tool, &arguments),
            };
            match plan {
                Ok(plan) if plan.needs_approval => self.request_approval(call, plan, &mut effects),
                Ok(plan) => self.run_call(call, plan, at, &mut effects),
                Err(fault) => {
                    let (index, label) = (call.index, call.label.clone());
                    effects.push(self.log_call_start(call, at));
                    self.fail_call(index, label, ToolStatus::Failed, &fault, at, &mut effects);
                }
            }
        }
        self.continue_run(effects, at)
    }

    pub(super) fn tool_progress(&mut self, index: usize, progress: ToolProgress) -> Vec<Effect> {
        let Some(call) = self.find_call(index, ToolStatus::Running) else {
            return Vec::new();
        };
        let event = RunEvent::ToolProgress {
            index,
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.clone(),
            progress,
        };
        vec![self.log(event)]
    }

    pub(super) fn tool_ended(&mut self, index: usize, done: ToolOutcome, at: Timestamp) -> Vec<Effect> {
        let Some(call) = self.find_call(index, ToolStatus::Running) else {
            return Vec::new();
        };
        // A failed call has not done what it says when it is done.
        let (status, label, output) = match done.output {
            Ok(output) => (ToolStatus::Complete, done.label, output),
            Err(error) => (ToolStatus::Failed, call.label.clone(), error),
        };
        let ended = self.complete_call(index, label, status, output, done.artifacts, at);
        let mut effects: Vec<Effect> = ended.into_iter().collect();
        effects.extend(self.add_usage(done.usage));
        self.continue_run(effects, at)
    }

    /// Adds the use of models by a tool to the totals of the answer.
    fn add_usage(&mut self, used: Option<TokenTotals>) -> Option<Effect> {
        let (usage, used) = (self.message.usage?, used?);
        let totals = usage.totals.plus(used);
        Some(self.log(RunEvent::Usage(Usage { totals, ..usage })))
    }

    pub(super) fn approval_answered(&mut self, index: usize, allowed: bool, at: Timestamp) -> Vec<Effect> {
        let Some(call) = self.find_call(index, ToolStatus::Waiting).cloned() else {
            return Vec::new();
        };
        let mut effects = vec![self.log(RunEvent::ApprovalAnswered {
            index,
            tool_use_id: call.tool_use_id.clone(),
            allowed,
        })];
        match self.tools.plan(&call.tool, &arguments_text(&call.input)) {
            _ if !allowed => {
                self.fail_call(index, call.label, ToolStatus::Denied, DENIED, at, &mut effects);
            }
            Ok(plan) => self.run_call(self.to_requested_call(call), plan, at, &mut effects),
            Err(fault) => self.fail_call(index, call.label, ToolStatus::Failed, &fault, at, &mut effects),
        }
        self.start_allowed_calls(at, &mut effects);
        self.continue_run(effects, at)
    }

    /// Starts the waiting calls that need no approval any more, after a tool was allowed permanently.
    fn start_allowed_calls(&mut self, at: Timestamp, effects: &mut Vec<Effect>) {
        let waits = |call: &&ToolCall| call.status == ToolStatus::Waiting;
        let waiting: Vec<ToolCall> = self.message.tool_calls().filter(waits).cloned().collect();
        for call in waiting {
            match self.tools.plan(&call.tool, &arguments_text(&call.input)) {
                Ok(plan) if !plan.needs_approval => {
                    self.run_call(self.to_requested_call(call), plan, at, effects)
                }
                _ => {}
            }
        }
    }

    /// Returns the next step after a change of the calls: waits for running tools, pauses for approvals, or
    /// calls the model.
    fn continue_run(&mut self, mut effects: Vec<Effect>, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::RunningTools;
        let is_running = |call: &ToolCall| call.status == ToolStatus::Running;
        if self.message.tool_calls().any(is_running) {
            return effects;
        }
        if self.message.is_waiting_for_user() {
            self.phase = Phase::Ended;
            let event = RunEvent::Waiting {
                worked_ms: self.elapsed_ms(at),
            };
            apply_to_run(&mut self.message, &event);
            effects.push(Effect::Pause(event));
            return effects;
        }
        effects.extend(self.start_model_call());
        effects
    }

    /// Starts a call and logs its start. The log entry adds the call to the message if it is not there yet.
    fn run_call(
        &mut self,
        mut call: RequestedCall,
        plan: ToolPlan,
        at: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        (call.label, call.detail) = (plan.label, plan.detail);
        let run = Effect::RunTool {
            index: call.index,
            tool: call.tool.clone(),
            input: plan.input,
        };
        effects.extend([self.log_call_start(call, at), run]);
    }

    fn log_call_start(&mut self, call: RequestedCall, started_at: Timestamp) -> Effect {
        self.log(RunEvent::ToolStart { call, started_at })
    }

    /// Requests a user's approval of a call.
    fn request_approval(&mut self, mut call: RequestedCall, plan: ToolPlan, effects: &mut Vec<Effect>) {
        (call.label, call.detail) = (plan.label, plan.detail);
        effects.push(self.log(RunEvent::ApprovalRequested(call)));
    }

    /// Returns the request of a call that is in the message.
    fn to_requested_call(&self, call: ToolCall) -> RequestedCall {
        let (node, part) = self.call_position(call.index);
        RequestedCall {
            node,
            part,
            index: call.index,
            tool_use_id: call.tool_use_id,
            tool: call.tool,
            input: call.input,
            label: call.label,
            detail: call.detail,
        }
    }

    /// Ends a call with this output for the model.
    fn fail_call(
        &mut self,
        index: usize,
        label: String,
        status: ToolStatus,
        output: &str,
        at: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        effects.extend(self.complete_call(index, label, status, output.into(), ToolArtifacts::default(), at));
    }

    fn complete_call(
        &mut self,
        index: usize,
        label: String,
        status: ToolStatus,
        output: String,
        artifacts: ToolArtifacts,
        at: Timestamp,
    ) -> Option<Effect> {
        let call = self.message.tool_calls().find(|call| call.index == index)?;
        let event = RunEvent::ToolComplete {
            index,
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.clone(),
            label,
            status,
            output,
            payload: artifacts.payload,
            attachments: artifacts.attachments,
            ended_at: at,
        };
        Some(self.log(event))
    }

    /// Returns the call of this index if it has this status.
    fn find_call(&self, index: usize, status: ToolStatus) -> Option<&ToolCall> {
        debug_assert!(self.message.status == RunStatus::Running);
        let mut calls = self.message.tool_calls();
        calls.find(|call| call.index == index && call.status == status)
    }

    /// Returns the node and the part of a call, or the position at which it will be added.
    fn call_position(&self, index: usize) -> (usize, usize) {
        for (node_index, node) in self.message.nodes.iter().enumerate() {
            let is_it = |part: &Part| matches!(part, Part::ToolCall(call) if call.index == index);
            if let Some(part) = node.parts.iter().position(is_it) {
                return (node_index, part);
            }
        }
        let parts = self
            .message
            .nodes
            .get(self.node)
            .map_or(0, |node| node.parts.len());
        (self.node, parts)
    }

    /// Returns the model's id of a call, or a generated one if the id is empty or taken. The generated ids
    /// have nine letters and digits, since Mistral accepts no others.
    fn unique_call_id(&self, id: String, index: usize) -> String {
        let is_taken = || self.message.tool_calls().any(|call| call.tool_use_id == id);
        if id.is_empty() || is_taken() {
            format!("call{index:05}")
        } else {
            id
        }
    }
}

/// Returns the arguments exactly as the model wrote them.
fn arguments_text(input: &RawJson) -> String {
    // Invalid JSON is stored as a JSON string. A string is never a tool's valid arguments, so the two can't
    // be confused.
    serde_json::from_str::<String>(input.as_str()).unwrap_or_else(|_| input.as_str().into())
}
