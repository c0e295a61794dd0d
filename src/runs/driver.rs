//! Performs one run: feeds the agent what happens and does what it says, until it ends or has to wait for a person.

mod prepare;
mod provider_data;

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::Instant};

use self::prepare::wait_for_tools;
use super::{
    Inner, Unread,
    allowed::Allowed,
    at_work::{Answer, Place},
    awaited::{Awaited, Happened},
    context::Context,
    history::Told,
    meter::Meter,
    recorder::Recorder,
    working::Working,
    workshop::Desk,
};
use crate::{
    agent::{Agent, Effect, Input, Timeout},
    clock,
    journal::JournalError,
    model::{ModelEvent, ModelRequest},
    pages::Prompt,
    protocol::{
        AssistantMessage, EventBody, Message, MessageId, PlacedOpaque, ToolStatus, intent::ApprovalAnswer,
    },
    storage::{Change, RunKey, Trouble},
};

/// After so many events, or a tenth of all if that is more, what a run has come to is stored in one piece: whoever opens a
/// conversation then has to wait for few events to be put together, and what is written comes to a few times the answer.
const STORE_AFTER: usize = 1000;

/// Drives a run until it ends or waits for a person, which is committed when this returns.
pub(super) async fn drive(runs: &Inner, run: RunKey, place: &mut Place) {
    wait_for_tools(runs, run, place).await;
    match Driver::prepare(runs, run, place).await {
        Ok(Some(driver)) => driver.drive(place).await,
        Ok(None) | Err(Unread::ShuttingDown) => {}
        Err(Unread::Damaged) => runs.give_up(run, None).await,
    }
}

/// A run at work.
struct Driver<'a> {
    runs: &'a Inner,
    run: RunKey,
    agent: Agent,
    toolbox: Arc<Allowed>,
    context: Arc<Context>,
    desk: Arc<Desk>,
    /// The messages that lead to it, oldest first.
    history: Arc<[Message]>,
    /// Data of the history and the answer that only the models' providers understand.
    opaque: HashMap<MessageId, Vec<PlacedOpaque>>,
    /// Bytes of that in the present call.
    opaque_bytes: usize,
    /// What the model is told before all else.
    prompt: Arc<Prompt>,
    awaited: Awaited,
    working: Working,
    recorder: Recorder,
    deadline: Instant,
    /// Bytes that the model has produced.
    produced: usize,
    /// Events logged, and how many there were when all was last stored.
    logged: usize,
    stored: usize,
    /// Told when the person's answer that was taken last is committed.
    answered: Option<oneshot::Sender<()>>,
}

impl Driver<'_> {
    async fn drive(mut self, place: &mut Place) {
        let runs = self.runs;
        let given_up = runs.journal.gives_up(self.run.message_id);
        tokio::pin!(given_up);
        let mut input = Input::Start;
        loop {
            for effect in self.agent.step(input, clock::now()) {
                match effect {
                    Effect::Log(event) => {
                        self.logged += 1;
                        self.recorder.logs(&event);
                        self.runs.journal.append(self.run, vec![event]).await;
                    }
                    Effect::Keep(payload) => self.runs.journal.keep(self.run, payload).await,
                    Effect::KeepOpaque { node, part, data } => self.keep_opaque(node, part, data).await,
                    Effect::Call { with_tools } => self.call(with_tools),
                    Effect::Wait(wait) => {
                        self.recorder.waits();
                        self.awaited = Awaited::retry(wait);
                    }
                    Effect::Run { index, tool, input } => {
                        let offered = self.toolbox.offer().get(&tool);
                        self.working.begin(index, tool, offered, input);
                    }
                    Effect::Pause(event) => return self.pause(event).await,
                    Effect::End(event) => return self.end(event).await,
                }
            }
            self.recorder.keep_up().await;
            if let Some(answered) = self.answered.take() {
                tell_when_committed(self.runs, self.run, answered);
            }
            if self.logged - self.stored >= STORE_AFTER.max(self.stored / 10) {
                self.stored = self.logged;
                self.runs
                    .journal
                    .store(self.run, self.agent.message().clone())
                    .await;
            }
            input = tokio::select! {
                biased;
                () = &mut given_up => {
                    // What a tool still does must not come after the end.
                    self.working.shut_down().await;
                    return runs.give_up(self.run, Some(self.agent.message().clone())).await;
                }
                input = self.next_input(place) => input,
            };
            input = self.without_too_large(input);
            self.recorder.heard(&input);
            if let Input::Model(event) = &input {
                self.produced += length(event);
                if self.produced > self.runs.limits.answer_bytes {
                    input = Input::TooLong(self.runs.limits.answer_bytes);
                }
            }
        }
    }

    /// Goes on with the answer: first it is found out what there is room for.
    fn call(&mut self, with_tools: bool) {
        let tools = if with_tools {
            self.toolbox.offer().specs()
        } else {
            Vec::new()
        };
        let call = self.context.call(
            self.prompt.clone(),
            Told {
                history: &self.history,
                begun: (self.run.message_id, self.agent.message()),
                opaque: &self.opaque,
            },
            &self.desk,
            tools,
        );
        self.awaited = Awaited::request(self.context.clone().prepare(call));
    }

    /// Asks the model this.
    async fn ask(&mut self, request: Arc<ModelRequest>, meter: Meter) {
        self.opaque_bytes = 0;
        self.recorder.calls(request.clone()).await;
        self.awaited = Awaited::call(self.runs.models.clone(), request, meter);
    }

    async fn next_input(&mut self, place: &mut Place) -> Input {
        let mut since = Instant::now();
        loop {
            if let Some(input) = self.happens(place, &mut since).await {
                return input;
            }
        }
    }

    /// What happens next; nothing if it only waits for something else from now on. The model is waited for since then.
    async fn happens(&mut self, place: &mut Place, since: &mut Instant) -> Option<Input> {
        let run_limit = seconds(self.runs.timeouts.run_seconds);
        let (patience, limit) = if self.agent.is_streaming() {
            let limit = seconds(self.runs.timeouts.silence_seconds);
            (Timeout::Silence(limit), limit)
        } else {
            let limit = seconds(self.runs.timeouts.first_token_seconds);
            (Timeout::FirstToken(limit), limit)
        };
        Some(tokio::select! {
            biased;
            () = place.stop.cancelled() => Input::Stop,
            () = self.runs.shutdown.cancelled() => Input::ShutDown,
            // Before the model: one that always has something to say would never let it come to its turn.
            () = tokio::time::sleep_until(self.deadline) => Input::TimedOut(Timeout::Run(run_limit)),
            Some(answer) = place.answers.recv() => self.answer(answer).await,
            input = self.working.happens() => input,
            happened = self.awaited.happens() => match happened {
                Happened::Heard(input) => input,
                Happened::Ready(request, meter) => {
                    self.ask(request, meter).await;
                    *since = Instant::now();
                    return None;
                }
            },
            // After the call: it is made before it is written down.
            () = self.recorder.is_time() => {
                self.recorder.keep_up().await;
                return None;
            }
            () = tokio::time::sleep_until(*since + limit), if self.awaited.is_model() => {
                Input::TimedOut(patience)
            }
        })
    }

    /// The first answer counts: only what still waits is allowed by it.
    async fn answer(&mut self, Answer { index, answer, done }: Answer) -> Input {
        let mut calls = self.agent.message().tool_calls();
        let asked = calls.find(|call| call.index == index && call.status == ToolStatus::Waiting);
        if let (ApprovalAnswer::Always, Some(call)) = (answer, asked) {
            self.toolbox.allow(&call.tool);
            let allow = Change::AllowTool {
                user_id: self.run.user_id,
                conversation_id: self.run.conversation_id,
                tool: call.tool.clone(),
            };
            if let Err(error) = self.runs.journal.submit(allow).await {
                tracing::warn!(%error, "a tool is allowed for this answer only");
            }
        }
        self.answered = Some(done);
        Input::Answered {
            index,
            allowed: answer.allows(),
        }
    }

    async fn pause(mut self, event: EventBody) {
        self.recorder.ends(&event).await;
        let pause = Change::Pause {
            run: self.run,
            events: vec![event],
            message: self.agent.message().clone(),
        };
        let paused = self.runs.journal.submit(pause).await;
        if let (Ok(_), Some(answered)) = (&paused, self.answered.take()) {
            // Who asked may have gone.
            let _ = answered.send(());
        }
        stored(self.runs, self.run, self.agent.message().clone(), paused).await;
    }

    async fn end(mut self, event: EventBody) {
        crash_point!("runs::ending");
        // What a tool still does must not come after the end.
        self.working.shut_down().await;
        self.recorder.ends(&event).await;
        let end = Change::End {
            run: self.run,
            events: vec![event],
            message: self.agent.message().clone(),
        };
        let ended = self.runs.journal.submit(end).await;
        if ended.is_ok() {
            crash_point!("runs::ended");
        }
        stored(self.runs, self.run, self.agent.message().clone(), ended).await;
    }
}

/// Takes note of whether the end of a run is stored.
async fn stored<T>(runs: &Inner, run: RunKey, message: AssistantMessage, outcome: Result<T, JournalError>) {
    match outcome {
        // The conversation was deleted meanwhile.
        Ok(_) | Err(JournalError::Refused(_)) => {}
        Err(JournalError::Unavailable(Trouble::Damaged)) => runs.give_up(run, Some(message)).await,
        Err(JournalError::Unavailable(_)) => {
            tracing::error!(run = %run.message_id, "the journal is gone; the run is ended at the next start");
        }
    }
}

/// Who answered hears that it counts once it can't be lost any more.
fn tell_when_committed(runs: &Inner, run: RunKey, answered: oneshot::Sender<()>) {
    let journal = runs.journal.clone();
    tokio::spawn(async move {
        if journal.committed(run).await.is_ok() {
            // Who asked may have gone.
            let _ = answered.send(());
        }
    });
}

fn length(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Thinking(text) => text.len(),
        ModelEvent::ToolArguments { delta, .. } => delta.len(),
        ModelEvent::ToolCall { id, name, .. } => id.len() + name.len(),
        ModelEvent::Sources(sources) => sources
            .iter()
            .map(|source| source.url.len() + source.title.len())
            .sum(),
        ModelEvent::Opaque { data, .. } => data.value.as_str().len(),
        ModelEvent::Unread { raw, .. } => raw.len(),
        ModelEvent::Usage(_) | ModelEvent::Finished(_) | ModelEvent::TextWasThinking => 0,
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}
