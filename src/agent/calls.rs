//! The agent's part of tool calls: which are begun, what the model is told of those that can't be, and what comes next when
//! they have ended. What a tool is and does is not known here.

use super::{Agent, Effect, Phase, control::escape_metadata};
use crate::{
    model::{ToolArtifacts, ToolOutcome, ToolPlan},
    protocol::{
        EventBody, Opaque, Part, RawJson, RequestedCall, RunStatus, Timestamp, ToolCall, ToolProgress,
        ToolStatus, transcript::apply_to_run,
    },
};

/// A call that the model is asking for.
#[derive(Clone, Debug, Default)]
pub struct IncomingCall {
    /// Its place among those of this answer.
    pub(super) index: usize,
    id: String,
    tool: String,
    pub(super) arguments: String,
    /// What the model server said beside it, for itself.
    pub(super) opaque: Vec<Opaque>,
}

/// More calls than this in one answer are not taken: a model that asks for so many at once has lost its way.
const MAX_CALLS_PER_ANSWER: usize = 32;

const DENIED: &str = "The person did not allow this call. Do without it, or ask them what to do instead.";
const OUTCOME_UNKNOWN: &str = "The outcome of this call is unknown: it was broken off after it had begun. It may have had its effect \
                               or not. Find that out before you call it again.";

impl Agent {
    pub(super) fn add_incoming_call(&mut self, place: usize, id: String, tool: String) -> Vec<Effect> {
        // It was not offered any tools, or so many.
        if !self.may_use_tools() || self.incoming_calls.len() == MAX_CALLS_PER_ANSWER {
            return Vec::new();
        }
        // It is told among a message's metadata, where only Parlor writes. No tool has such a name.
        let tool = escape_metadata(&tool).into_owned();
        let message = format!("Calling {tool}...");
        self.incoming_calls.push(IncomingCall {
            index: place,
            id,
            tool,
            arguments: String::new(),
            opaque: Vec::new(),
        });
        vec![self.log(EventBody::Status { message })]
    }

    /// The run begins, or goes on from what it has.
    pub(super) fn resume_pending_calls(&mut self, at: Timestamp) -> Vec<Effect> {
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
                // Even if its tool is not there just now: it may have had its effect.
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
                    self.run_call(self.to_asked_call(call), plan, at, &mut effects)
                }
                (_, Ok(plan)) if plan.needs_approval => {
                    self.request_approval(self.to_asked_call(call), plan, &mut effects)
                }
                (_, Ok(plan)) => self.run_call(self.to_asked_call(call), plan, at, &mut effects),
            }
        }
        self.continue_run(effects, at)
    }

    /// The model has asked for tools, and waits for what they give.
    pub(super) fn dispatch_calls(&mut self, at: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let first = self.message.tool_calls().count();
        for (asked, index) in std::mem::take(&mut self.incoming_calls).into_iter().zip(first..) {
            let (node, part) = self.call_position(index);
            effects.extend(asked.opaque.into_iter().map(|data| Effect::StoreOpaque {
                node,
                part: Some(part),
                data,
            }));
            let call = RequestedCall {
                node,
                part,
                index,
                tool_use_id: self.unique_call_id(asked.id, index),
                input: RawJson::parse_or_quote(&asked.arguments),
                label: asked.tool.clone(),
                tool: asked.tool,
                detail: None,
            };
            match self.tools.plan(&call.tool, &asked.arguments) {
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
        let event = EventBody::ToolProgress {
            index,
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.clone(),
            progress,
        };
        vec![self.log(event)]
    }

    pub(super) fn tool_ended(&mut self, index: usize, done: ToolOutcome, at: Timestamp) -> Vec<Effect> {
        if self.find_call(index, ToolStatus::Running).is_none() {
            return Vec::new();
        }
        let (status, output) = match done.output {
            Ok(output) => (ToolStatus::Complete, output),
            Err(error) => (ToolStatus::Failed, error),
        };
        let ended = self.complete_call(index, done.label, status, output, done.artifacts, at);
        self.continue_run(ended.into_iter().collect(), at)
    }

    pub(super) fn approval_answered(&mut self, index: usize, allowed: bool, at: Timestamp) -> Vec<Effect> {
        let Some(call) = self.find_call(index, ToolStatus::Waiting).cloned() else {
            return Vec::new();
        };
        let mut effects = vec![self.log(EventBody::ApprovalAnswered {
            index,
            tool_use_id: call.tool_use_id.clone(),
            allowed,
        })];
        match self.tools.plan(&call.tool, &arguments_text(&call.input)) {
            _ if !allowed => {
                self.fail_call(index, call.label, ToolStatus::Denied, DENIED, at, &mut effects);
            }
            Ok(plan) => self.run_call(self.to_asked_call(call), plan, at, &mut effects),
            Err(fault) => self.fail_call(index, call.label, ToolStatus::Failed, &fault, at, &mut effects),
        }
        self.start_allowed_calls(at, &mut effects);
        self.continue_run(effects, at)
    }

    /// Whoever allows a tool for good is asked about no other call of it.
    fn start_allowed_calls(&mut self, at: Timestamp, effects: &mut Vec<Effect>) {
        let waits = |call: &&ToolCall| call.status == ToolStatus::Waiting;
        let waiting: Vec<ToolCall> = self.message.tool_calls().filter(waits).cloned().collect();
        for call in waiting {
            match self.tools.plan(&call.tool, &arguments_text(&call.input)) {
                Ok(plan) if !plan.needs_approval => {
                    self.run_call(self.to_asked_call(call), plan, at, effects)
                }
                _ => {}
            }
        }
    }

    /// What comes after a change of the calls: more work, a person's answer, or the model's next one.
    fn continue_run(&mut self, mut effects: Vec<Effect>, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::RunningTools;
        let is_running = |call: &ToolCall| call.status == ToolStatus::Running;
        if self.message.tool_calls().any(is_running) {
            return effects;
        }
        if self.message.is_waiting_for_person() {
            self.phase = Phase::Ended;
            let event = EventBody::Waiting {
                worked_ms: self.worked_ms(at),
            };
            apply_to_run(&mut self.message, &event);
            effects.push(Effect::Pause(event));
            return effects;
        }
        effects.extend(self.start_model_call());
        effects
    }

    /// Has a call begin, which is in its place or will be with this.
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
            input: arguments_text(&call.input),
        };
        effects.extend([self.log_call_start(call, at), run]);
    }

    fn log_call_start(&mut self, call: RequestedCall, started_at: Timestamp) -> Effect {
        self.log(EventBody::ToolStart { call, started_at })
    }

    /// Asks a person whether a call may begin.
    fn request_approval(&mut self, mut call: RequestedCall, plan: ToolPlan, effects: &mut Vec<Effect>) {
        (call.label, call.detail) = (plan.label, plan.detail);
        effects.push(self.log(EventBody::ApprovalRequested(call)));
    }

    /// A call that is in the message, as it was asked for.
    fn to_asked_call(&self, call: ToolCall) -> RequestedCall {
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

    /// A call has ended with this for the model.
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
        made: ToolArtifacts,
        at: Timestamp,
    ) -> Option<Effect> {
        let call = self.message.tool_calls().find(|call| call.index == index)?;
        let event = EventBody::ToolComplete {
            index,
            tool_use_id: call.tool_use_id.clone(),
            tool: call.tool.clone(),
            label,
            status,
            output,
            payload: made.payload,
            attachments: made.attachments,
            ended_at: at,
        };
        Some(self.log(event))
    }

    /// The call of this index, if it stands like this.
    fn find_call(&self, index: usize, status: ToolStatus) -> Option<&ToolCall> {
        debug_assert!(self.message.status == RunStatus::Running);
        let mut calls = self.message.tool_calls();
        calls.find(|call| call.index == index && call.status == status)
    }

    /// Where a call is in the message, or will be.
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

    /// The model's id of a call, or, if it gave none or the same twice, one of our own. Mistral takes back only ids of nine
    /// letters and digits.
    fn unique_call_id(&self, id: String, index: usize) -> String {
        let is_taken = || self.message.tool_calls().any(|call| call.tool_use_id == id);
        if id.is_empty() || is_taken() {
            format!("call{index:05}")
        } else {
            id
        }
    }
}

/// What the model gave, as it gave it.
fn arguments_text(input: &RawJson) -> String {
    // What is not JSON is kept as a string of it. A string is no tool's arguments, so nothing is confused.
    serde_json::from_str::<String>(input.as_str()).unwrap_or_else(|_| input.as_str().into())
}
