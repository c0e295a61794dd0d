//! Performs one run: feeds the agent what happens and does what it says, until it ends or has to wait for a person.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::{sync::oneshot, time::Instant};

use super::{
    Inner,
    allowed::Allowed,
    at_work::{Answer, Place},
    awaited::{Awaited, Happened},
    context::Context,
    meter::Meter,
    recorder::Recorder,
    working::Working,
    workshop::{self, Desk},
};
use crate::{
    agent::{self, Agent, Effect, Input, Timeout},
    clock,
    diagnostics::record::Purpose,
    journal::JournalError,
    pages::{self, Instructions, Known, interactions},
    protocol::{
        AssistantMessage, EventBody, Message, PayloadRef, RunStatus, ToolStatus, intent::ApprovalAnswer,
    },
    providers::{ModelEvent, ModelRequest},
    storage::{Beginning, Change, RunKey},
};

/// After so many events, or a tenth of all if that is more, what a run has come to is stored in one piece: whoever opens a
/// conversation then has to wait for few events to be put together, and what is written comes to a few times the answer.
const STORE_AFTER: usize = 1000;

/// Drives a run until it ends or waits for a person, which is committed when this returns.
pub(super) async fn drive(runs: &Inner, run: RunKey, place: &mut Place) {
    wait_for_tools(runs, run, place).await;
    if let Some(driver) = Driver::prepare(runs, run).await {
        driver.drive(place).await;
    }
}

/// The first runs after a start wait a little for tools that are still to come.
async fn wait_for_tools(runs: &Inner, run: RunKey, place: &Place) {
    let settled = runs.tools_settled();
    tokio::pin!(settled);
    if settled.as_mut().now_or_never().is_some() {
        return;
    }
    let message = "Waiting for tools...".into();
    runs.journal
        .append(run, vec![EventBody::Status { message }])
        .await;
    tokio::select! {
        are_settled = settled => if !are_settled {
            tracing::warn!("an answer is begun without the tools of MCP servers that have not listed them yet");
        },
        () = place.stop.cancelled() => {}
        () = runs.shutdown.cancelled() => {}
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
    history: Vec<Message>,
    /// What the model is told before all else.
    prompt: String,
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

impl<'a> Driver<'a> {
    /// Nothing if the run's conversation was deleted a moment after the start: then there is nothing left to answer or to end;
    /// or if the server goes down before it could be read: then the next one ends it.
    async fn prepare(runs: &'a Inner, run: RunKey) -> Option<Self> {
        let read = || runs.storage.beginning(run);
        let Beginning {
            answer,
            history,
            looking,
            verdicts,
            instructions,
            allowed_tools,
            terms,
        } = runs.insist("what a run begins with", read).await??;
        // It was stopped before it came to its turn.
        if answer.status != RunStatus::Running {
            return None;
        }
        let here = runs
            .pages
            .resolve(looking.as_ref().map(|looking| &looking.context));
        let offer = runs.tools.offer_with(&here.tools);
        let payloads = shown_before(&history, &answer);
        let read = || workshop::made(&*runs.storage, run, &history, &answer);
        let made = runs.insist("what the model made", read).await?;
        let desk = Desk::new(here.payloads, here.actions, runs.limits.payload_bytes, made);
        let servers = pages::tool_servers(&offer.guidance());
        let prompt = pages::system_prompt(
            here.page,
            &Known {
                now: clock::now(),
                looking: looking.as_ref(),
                interactions: &interactions(&history, &runs.history.zone()),
                payloads: &payloads,
                verdicts: &verdicts,
                tools: &offer.specs(),
                written: &desk.payloads,
                actions: &desk.actions,
                instructions: Instructions {
                    server: &runs.agent.instructions,
                    person: &instructions,
                },
            },
        ) + &servers;
        let toolbox = Arc::new(Allowed::new(offer, allowed_tools));
        let desk = Arc::new(desk);
        Some(Self {
            runs,
            run,
            agent: Agent::new(
                answer,
                toolbox.clone(),
                desk.clone(),
                agent::Terms {
                    max_iterations: runs.agent.max_iterations,
                    has_metadata: runs.history.metadata,
                },
            ),
            toolbox,
            context: Arc::new(Context::new(runs, run, terms)),
            desk,
            history,
            prompt,
            awaited: Awaited::Nothing,
            working: Working::new(run, runs.journal.clone(), runs.limits.clone()),
            recorder: Recorder::new(
                run,
                runs.journal.clone(),
                runs.models.clone(),
                runs.recording.clone(),
                Purpose::Answer,
            ),
            deadline: Instant::now() + seconds(runs.timeouts.run_seconds),
            produced: 0,
            logged: 0,
            stored: 0,
            answered: None,
        })
    }

    async fn drive(mut self, place: &mut Place) {
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
            input = self.next_input(place).await;
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
            &self.prompt,
            &self.history,
            self.agent.message(),
            &self.desk,
            tools,
        );
        self.awaited = Awaited::request(self.context.clone().prepare(call));
    }

    /// Asks the model this.
    async fn ask(&mut self, request: Arc<ModelRequest>, meter: Meter) {
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
        gone_or_logged(self.run, paused);
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
        gone_or_logged(self.run, ended);
    }
}

fn gone_or_logged<T>(run: RunKey, outcome: Result<T, JournalError>) {
    match outcome {
        // The conversation was deleted meanwhile.
        Ok(_) | Err(JournalError::Refused(_)) => {}
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

/// What was made for the panel on the branch that leads to an answer, and in it, oldest first. What another branch has is nothing that
/// this one knows of.
fn shown_before(history: &[Message], answer: &AssistantMessage) -> Vec<PayloadRef> {
    let answers = history.iter().filter_map(Message::assistant).chain([answer]);
    answers.flat_map(AssistantMessage::payloads).cloned().collect()
}

fn length(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Thinking(text) => text.len(),
        ModelEvent::ToolArguments { delta, .. } => delta.len(),
        ModelEvent::ToolCall { id, name, .. } => id.len() + name.len(),
        ModelEvent::Usage(_) | ModelEvent::Finished(_) => 0,
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}
