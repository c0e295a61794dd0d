//! The restoration of the session that tools keep for a conversation, such as that of Python: the finished calls of the branch
//! are repeated for their effect on a new session, in their order. Nothing is added to the conversation.

use std::{
    collections::{HashMap, hash_map},
    sync::Arc,
};

use tokio::time::{sleep_until, timeout};

use super::{
    super::{Inner, active_runs::RunSlot, permissions::Permissions},
    Driver,
    prepare::attached_files,
};
use crate::agent::{Effect, Input};
use parlor_base::{clock, text::single_line};
use parlor_protocol::{
    Attachment, FRESH_SESSION, Interaction, Message, MessageBody, MessageId, ToolCall, WAITING_FOR_MODEL,
};
use parlor_storage::RunKey;
use parlor_tools::{
    AnyTool, FinishedCall, ReplayedCall, SessionHold, SessionKeeper, StepId, ToolContext, ToolOffer,
};

/// The activity of a run that restores a session.
const RESTORING: &str = "Restoring session...";

/// The words to the model about calls that are not repeated.
const FATAL_STEPS_LEFT_OUT: &str =
    "An earlier call ended the session, so it was not repeated: what it had set is not there.";

/// The maximum length of the cause of a failure, in characters. Code of the conversation may have written it.
const MAX_CAUSE_CHARS: usize = 500;

/// The session that a run may use.
pub(super) struct RunSession {
    keeper: Arc<dyn SessionKeeper>,
    permissions: Permissions,
    /// The session is not ended for others during the run: its calls would go on in an empty one.
    _hold: SessionHold,
}

/// A call to repeat.
struct Step {
    id: StepId,
    tool: Arc<dyn AnyTool>,
    arguments: String,
    finished: FinishedCall,
    /// The files that the call could use: those attached before its run.
    files: Arc<[Attachment]>,
}

impl RunSession {
    /// Returns the session of a run; `None` if it is offered no tool that runs code in one.
    pub fn new(runs: &Inner, run: RunKey, offer: &ToolOffer, permissions: Permissions) -> Option<Self> {
        let keeper = runs.tools.sessions()?.clone();
        let runs_code = offer.names().iter().any(|name| keeper.runs_code(name));
        (runs_code && keeper.is_available()).then(|| Self {
            permissions,
            _hold: keeper.hold(run.conversation_id),
            keeper,
        })
    }
}

impl Driver<'_> {
    /// Restores the session, if the branch has calls that changed it and it does not stand there. Returns the input that ends
    /// the run if that fails; `None` also if the run is to end meanwhile, which the driver sees next.
    pub(super) async fn restore_session(&mut self, slot: &RunSlot) -> Option<Input> {
        let session = self.session.as_ref()?;
        let (keeper, permissions) = (session.keeper.clone(), session.permissions.clone());
        if slot.stop.is_cancelled() || self.runs.shutdown.is_cancelled() {
            return None;
        }
        loop {
            let steps = self.session_steps();
            let ids: Vec<StepId> = steps.iter().map(|step| step.id).collect();
            // Also without steps: a live session may have taken those of another branch.
            let taken = keeper.taken_steps(self.run.conversation_id, &ids, &self.attached);
            let conversation_id = self.run.conversation_id;
            let is_fatal = |id: &StepId| keeper.is_fatal_step(conversation_id, *id);
            // The session may have ended after its last call.
            if !ids.iter().any(is_fatal) {
                let failed = self
                    .replay_steps(slot, steps, taken, &*keeper, &permissions)
                    .await;
                if failed.is_none() || !ids.iter().any(is_fatal) {
                    return failed;
                }
            }
            // Each attempt leaves out one more call, so they come to an end.
            Arc::make_mut(&mut self.prompt).add_difference(FATAL_STEPS_LEFT_OUT);
        }
    }

    /// Repeats the steps that a session has not taken. Returns the input that ends the run if that fails.
    async fn replay_steps(
        &mut self,
        slot: &RunSlot,
        steps: Vec<Step>,
        taken: usize,
        keeper: &dyn SessionKeeper,
        permissions: &Permissions,
    ) -> Option<Input> {
        let count = steps.len().saturating_sub(taken);
        for (number, step) in steps.into_iter().skip(taken).enumerate() {
            self.show_activity(match count {
                1 => RESTORING.into(),
                _ => format!("{RESTORING} {} of {count}", number + 1),
            })
            .await;
            let restored = tokio::select! {
                biased;
                () = slot.stop.cancelled() => None,
                () = self.runs.shutdown.cancelled() => None,
                () = sleep_until(self.deadline) => None,
                restored = replay(step, self.run, permissions) => Some(restored),
            };
            match restored {
                Some(Ok(ReplayedCall { difference })) => {
                    if let Some(difference) = difference {
                        Arc::make_mut(&mut self.prompt).add_difference(&difference);
                    }
                }
                // It may have taken a part of a step.
                unfinished => {
                    keeper.end(self.run.conversation_id);
                    let cause = unfinished?.err()?;
                    let cause = self.runs.recorder_settings.secrets.redact(&cause);
                    return Some(Input::RestoreFailed(single_line(&cause, MAX_CAUSE_CHARS)));
                }
            }
        }
        if count > 0 {
            self.show_activity(WAITING_FOR_MODEL.into()).await;
        }
        None
    }

    async fn show_activity(&mut self, activity: String) {
        for effect in self.agent.step(Input::Activity(activity), clock::now()) {
            if let Effect::Log(event) = effect {
                self.logged_events += 1;
                self.runs.journal.append(self.run, vec![event]).await;
            }
        }
    }

    /// Returns the calls of the branch that have changed the session, oldest first, without those that have ended one.
    fn session_steps(&self) -> Vec<Step> {
        let is_fatal = |id: StepId| {
            let session = self.session.as_ref();
            session.is_some_and(|session| session.keeper.is_fatal_step(self.run.conversation_id, id))
        };
        let start = fresh_session_start(&self.history);
        let answers = self.history.iter().enumerate().skip(start);
        let earlier = answers.filter_map(|(index, message)| {
            let calls: Vec<&ToolCall> = message.assistant()?.tool_calls().collect();
            let files = || attached_files(&self.history[..index]);
            (!calls.is_empty()).then(|| (message.id, files(), calls))
        });
        let own = self.agent.message().tool_calls().collect();
        let own = (self.run.message_id, self.attached.clone(), own);
        let mut tools = HashMap::new();
        earlier
            .chain([own])
            .flat_map(|(run, files, calls)| calls.into_iter().map(move |call| (run, files.clone(), call)))
            .filter(|(run, _, call)| {
                let id = StepId {
                    run: *run,
                    call: call.index,
                };
                !is_fatal(id)
            })
            .filter_map(|(run, files, call)| {
                let tool = match tools.entry(&*call.tool) {
                    hash_map::Entry::Occupied(known) => known.into_mut(),
                    hash_map::Entry::Vacant(place) => place.insert(self.runs.tools.find(&call.tool)),
                };
                to_step(run, call, tool.as_ref()?, files)
            })
            .collect()
    }
}

/// Repeats a call. Returns the cause if that fails.
async fn replay(step: Step, run: RunKey, permissions: &Permissions) -> Result<ReplayedCall, String> {
    let name = &step.tool.spec().name;
    if !permissions.allows_tool(name) {
        return Err(format!("you may no longer use the tool “{name}”"));
    }
    let limit = step.tool.run_options().timeout;
    let context = ToolContext::for_replay(run.user_id, run.conversation_id, step.id, step.files);
    match timeout(limit, step.tool.replay(&step.arguments, step.finished, context)).await {
        Ok(replayed) => replayed.map_err(|error| error.0),
        Err(_) => Err(format!("a step took longer than {} seconds", limit.as_secs())),
    }
}

/// Returns a call to repeat; `None` if it has not changed the session.
fn to_step(
    run: MessageId,
    call: &ToolCall,
    tool: &Arc<dyn AnyTool>,
    files: Arc<[Attachment]>,
) -> Option<Step> {
    let finished = FinishedCall::from_call(call)?;
    let arguments = call.input.as_str();
    tool.is_replayed(arguments, &finished).then(|| Step {
        id: StepId {
            run,
            call: call.index,
        },
        tool: Arc::clone(tool),
        arguments: arguments.to_owned(),
        finished,
        files,
    })
}

/// Returns the index of the message that has begun the present session; 0 if the first one has.
fn fresh_session_start(history: &[Message]) -> usize {
    let begins = |message: &Message| match &message.body {
        MessageBody::User { interaction, .. } => {
            matches!(interaction, Interaction::ActionExecuted { action, .. } if action == FRESH_SESSION)
        }
        MessageBody::Assistant(_) | MessageBody::Damaged => false,
    };
    history.iter().rposition(begins).unwrap_or_default()
}
