//! The agent's part of tool calls: which are begun, what the model is told of those that can't be, and what comes next when
//! they have ended. What a tool is and does is not known here.

use super::{Agent, Effect, Phase, control::neutral};
use crate::{
    model::{Done, Made, ToolPlan},
    protocol::{
        AskedCall, EventBody, Json, Opaque, Part, RunStatus, Timestamp, ToolCall, ToolProgress, ToolStatus,
        transcript::apply_to_run,
    },
};

/// A call that the model is asking for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Its place among those of this answer.
    pub(super) place: usize,
    id: String,
    tool: String,
    pub(super) arguments: String,
    /// What the model server said beside it, for itself.
    pub(super) opaque: Vec<Opaque>,
}

/// More calls than this in one answer are not taken: a model that asks for so many at once has lost its way.
const MOST_AT_ONCE: usize = 32;

const NOT_ALLOWED: &str =
    "The person did not allow this call. Do without it, or ask them what to do instead.";
const OUTCOME_UNKNOWN: &str = "The outcome of this call is unknown: it was broken off after it had begun. It may have had its effect \
                               or not. Find that out before you call it again.";

impl Agent {
    pub(super) fn begins_to_ask(&mut self, place: usize, id: String, tool: String) -> Vec<Effect> {
        // It was not offered any tools, or so many.
        if !self.may_use_tools() || self.asked.len() == MOST_AT_ONCE {
            return Vec::new();
        }
        // It is told among a message's metadata, where only Parlor writes. No tool has such a name.
        let tool = neutral(&tool).into_owned();
        let message = format!("Calling {tool}...");
        self.asked.push(Asked {
            place,
            id,
            tool,
            arguments: String::new(),
            opaque: Vec::new(),
        });
        vec![self.log(EventBody::Status { message })]
    }

    /// The run begins, or goes on from what it has.
    pub(super) fn take_up(&mut self, at: Timestamp) -> Vec<Effect> {
        let open: Vec<ToolCall> = self
            .message
            .tool_calls()
            .filter(|call| call.output.is_none())
            .cloned()
            .collect();
        if open.is_empty() {
            return self.think();
        }
        let mut effects = Vec::new();
        for call in open {
            let plan = self.tools.plan(&call.tool, &arguments(&call.input));
            match (call.status, plan) {
                (ToolStatus::Denied, plan) => {
                    let label = plan.map_or(call.tool.clone(), |plan| plan.label);
                    self.tell(
                        call.index,
                        label,
                        ToolStatus::Denied,
                        NOT_ALLOWED,
                        at,
                        &mut effects,
                    );
                }
                // Even if its tool is not there just now: it may have had its effect.
                (_, plan)
                    if call.started_at.is_some() && !plan.as_ref().is_ok_and(|plan| plan.is_idempotent) =>
                {
                    let label = plan.map_or(call.label, |plan| plan.label);
                    let status = ToolStatus::Failed;
                    self.tell(call.index, label, status, OUTCOME_UNKNOWN, at, &mut effects);
                }
                (_, Err(fault)) => {
                    let status = ToolStatus::Failed;
                    self.tell(call.index, call.label, status, &fault, at, &mut effects);
                }
                (ToolStatus::Allowed, Ok(plan)) => self.begin(self.again(call), plan, at, &mut effects),
                (_, Ok(plan)) if plan.needs_approval => self.request(self.again(call), plan, &mut effects),
                (_, Ok(plan)) => self.begin(self.again(call), plan, at, &mut effects),
            }
        }
        self.go_on(effects, at)
    }

    /// The model has asked for tools, and waits for what they give.
    pub(super) fn ask_tools(&mut self, at: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let first = self.message.tool_calls().count();
        for (asked, index) in std::mem::take(&mut self.asked).into_iter().zip(first..) {
            let (node, part) = self.place_of(index);
            effects.extend(asked.opaque.into_iter().map(|data| Effect::KeepOpaque {
                node,
                part: Some(part),
                data,
            }));
            let call = AskedCall {
                node,
                part,
                index,
                tool_use_id: self.own_id(asked.id, index),
                input: Json::or_string(&asked.arguments),
                label: asked.tool.clone(),
                tool: asked.tool,
                detail: None,
            };
            match self.tools.plan(&call.tool, &asked.arguments) {
                Ok(plan) if plan.needs_approval => self.request(call, plan, &mut effects),
                Ok(plan) => self.begin(call, plan, at, &mut effects),
                Err(fault) => {
                    let (index, label) = (call.index, call.label.clone());
                    effects.push(self.start(call, at));
                    self.tell(index, label, ToolStatus::Failed, &fault, at, &mut effects);
                }
            }
        }
        self.go_on(effects, at)
    }

    pub(super) fn tool_progress(&mut self, index: usize, progress: ToolProgress) -> Vec<Effect> {
        let Some(call) = self.call_with(index, ToolStatus::Running) else {
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

    pub(super) fn tool_ended(&mut self, index: usize, done: Done, at: Timestamp) -> Vec<Effect> {
        if self.call_with(index, ToolStatus::Running).is_none() {
            return Vec::new();
        }
        let (status, output) = match done.output {
            Ok(output) => (ToolStatus::Complete, output),
            Err(error) => (ToolStatus::Failed, error),
        };
        let ended = self.complete(index, done.label, status, output, done.made, at);
        self.go_on(ended.into_iter().collect(), at)
    }

    pub(super) fn answered(&mut self, index: usize, allowed: bool, at: Timestamp) -> Vec<Effect> {
        let Some(call) = self.call_with(index, ToolStatus::Waiting).cloned() else {
            return Vec::new();
        };
        let mut effects = vec![self.log(EventBody::ApprovalAnswered {
            index,
            tool_use_id: call.tool_use_id.clone(),
            allowed,
        })];
        match self.tools.plan(&call.tool, &arguments(&call.input)) {
            _ if !allowed => {
                self.tell(
                    index,
                    call.label,
                    ToolStatus::Denied,
                    NOT_ALLOWED,
                    at,
                    &mut effects,
                );
            }
            Ok(plan) => self.begin(self.again(call), plan, at, &mut effects),
            Err(fault) => self.tell(index, call.label, ToolStatus::Failed, &fault, at, &mut effects),
        }
        self.begin_what_is_allowed(at, &mut effects);
        self.go_on(effects, at)
    }

    /// Whoever allows a tool for good is asked about no other call of it.
    fn begin_what_is_allowed(&mut self, at: Timestamp, effects: &mut Vec<Effect>) {
        let waits = |call: &&ToolCall| call.status == ToolStatus::Waiting;
        let waiting: Vec<ToolCall> = self.message.tool_calls().filter(waits).cloned().collect();
        for call in waiting {
            match self.tools.plan(&call.tool, &arguments(&call.input)) {
                Ok(plan) if !plan.needs_approval => self.begin(self.again(call), plan, at, effects),
                _ => {}
            }
        }
    }

    /// What comes after a change of the calls: more work, a person's answer, or the model's next one.
    fn go_on(&mut self, mut effects: Vec<Effect>, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Working;
        let is_running = |call: &ToolCall| call.status == ToolStatus::Running;
        if self.message.tool_calls().any(is_running) {
            return effects;
        }
        if self.message.is_asking() {
            self.phase = Phase::Ended;
            let event = EventBody::Waiting {
                worked_ms: self.worked_ms(at),
            };
            apply_to_run(&mut self.message, &event);
            effects.push(Effect::Pause(event));
            return effects;
        }
        effects.extend(self.think());
        effects
    }

    /// Has a call begin, which is in its place or will be with this.
    fn begin(&mut self, mut call: AskedCall, plan: ToolPlan, at: Timestamp, effects: &mut Vec<Effect>) {
        (call.label, call.detail) = (plan.label, plan.detail);
        let run = Effect::Run {
            index: call.index,
            tool: call.tool.clone(),
            input: arguments(&call.input),
        };
        effects.extend([self.start(call, at), run]);
    }

    fn start(&mut self, call: AskedCall, started_at: Timestamp) -> Effect {
        self.log(EventBody::ToolStart { call, started_at })
    }

    /// Asks a person whether a call may begin.
    fn request(&mut self, mut call: AskedCall, plan: ToolPlan, effects: &mut Vec<Effect>) {
        (call.label, call.detail) = (plan.label, plan.detail);
        effects.push(self.log(EventBody::ApprovalRequested(call)));
    }

    /// A call that is in the message, as it was asked for.
    fn again(&self, call: ToolCall) -> AskedCall {
        let (node, part) = self.place_of(call.index);
        AskedCall {
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
    fn tell(
        &mut self,
        index: usize,
        label: String,
        status: ToolStatus,
        output: &str,
        at: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        effects.extend(self.complete(index, label, status, output.into(), Made::default(), at));
    }

    fn complete(
        &mut self,
        index: usize,
        label: String,
        status: ToolStatus,
        output: String,
        made: Made,
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
    fn call_with(&self, index: usize, status: ToolStatus) -> Option<&ToolCall> {
        debug_assert!(self.message.status == RunStatus::Running);
        let mut calls = self.message.tool_calls();
        calls.find(|call| call.index == index && call.status == status)
    }

    /// Where a call is in the message, or will be.
    fn place_of(&self, index: usize) -> (usize, usize) {
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
    fn own_id(&self, id: String, index: usize) -> String {
        let is_taken = || self.message.tool_calls().any(|call| call.tool_use_id == id);
        if id.is_empty() || is_taken() {
            format!("call{index:05}")
        } else {
            id
        }
    }
}

/// What the model gave, as it gave it.
fn arguments(input: &Json) -> String {
    // What is not JSON is kept as a string of it. A string is no tool's arguments, so nothing is confused.
    serde_json::from_str::<String>(input.as_str()).unwrap_or_else(|_| input.as_str().into())
}
