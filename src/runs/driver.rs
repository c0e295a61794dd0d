//! Performs one run: feeds the agent what happens and does what it says, until it ends.

use std::{pin::Pin, sync::Arc, time::Duration};

use futures::{StreamExt, future::BoxFuture};
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::CancellationToken;

use super::{Inner, history};
use crate::{
    agent::{Agent, Effect, Input, Timeout},
    clock,
    journal::JournalError,
    protocol::{AssistantMessage, EventBody, Message, MessageBody},
    providers::{ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, Models},
    storage::{Change, PageSize, RunKey, Storage, StorageError},
};

/// After so many events, or a tenth of all if that is more, what a run has come to is stored in one piece: whoever opens a
/// conversation then has to wait for few events to be put together, and what is written comes to a few times the answer.
const STORE_AFTER: usize = 1000;

/// What the run is waiting for.
enum Awaited {
    Nothing,
    /// The model server to accept the call.
    Call(BoxFuture<'static, Result<ModelStream, ModelError>>),
    /// The next event of the answer.
    Stream(ModelStream),
    /// The time to call again.
    Retry(Pin<Box<Sleep>>),
}

/// Drives a run to its end, which is committed when this returns.
pub(super) async fn drive(runs: &Inner, run: RunKey, stop: CancellationToken) {
    let Some((mut agent, messages)) = prepare(runs, run).await else {
        return;
    };
    let mut input = Input::Start;
    let model = agent.message().model.clone();

    let seconds = Duration::from_secs_f64;
    let run_limit = seconds(runs.timeouts.run_seconds);
    let run_deadline = Instant::now() + run_limit;
    let mut awaited = Awaited::Nothing;
    let mut last_sign = Instant::now();
    let mut produced = 0;
    let (mut logged, mut stored) = (0, 0);
    loop {
        for effect in agent.step(input, clock::now()) {
            match effect {
                Effect::Log(event) => {
                    logged += 1;
                    runs.journal.append(run, vec![event]).await;
                }
                Effect::Call => {
                    last_sign = Instant::now();
                    awaited = Awaited::Call(Box::pin(call(
                        runs.models.clone(),
                        model.clone(),
                        messages.clone(),
                    )));
                }
                Effect::Wait(wait) => {
                    // Jitter: runs that failed together must not come back together.
                    let wait = wait.mul_f64(1.0 + fastrand::f64() / 2.0);
                    awaited = Awaited::Retry(Box::pin(sleep(wait)));
                }
                Effect::End(event) => return end(runs, run, &agent, event).await,
            }
        }
        if logged - stored >= STORE_AFTER.max(stored / 10) {
            stored = logged;
            runs.journal.store(run, agent.message().clone()).await;
        }
        let patience = if agent.is_streaming() {
            Timeout::Silence(seconds(runs.timeouts.silence_seconds))
        } else {
            Timeout::FirstToken(seconds(runs.timeouts.first_token_seconds))
        };
        input = next_input(
            runs,
            &stop,
            &mut awaited,
            patience,
            last_sign,
            (run_deadline, run_limit),
        )
        .await;
        last_sign = Instant::now();
        if let Input::Model(ModelEvent::Text(text) | ModelEvent::Thinking(text)) = &input {
            produced += text.len();
            if produced > runs.limits.answer_bytes {
                input = Input::TooLong(runs.limits.answer_bytes);
            }
        }
    }
}

/// The agent and what its model is shown. Nothing if the run's conversation was deleted a moment after the start: then
/// there is nothing left to answer or to end; or if the server goes down before it could be read: then the next one ends it.
async fn prepare(runs: &Inner, run: RunKey) -> Option<(Agent, Vec<ModelMessage>)> {
    let read = || read(&*runs.storage, run);
    let (answer, history) = runs.insist("a run's conversation", read).await??;
    let messages = history::messages_for(&history, &answer);
    Some((Agent::new(answer), messages))
}

/// What a run has come to so far, and the messages that lead to it.
async fn read(
    storage: &dyn Storage,
    run: RunKey,
) -> Result<Option<(AssistantMessage, Vec<Message>)>, StorageError> {
    let message = storage.message(run.user_id, run.message_id).await?;
    let Some((
        conversation_id,
        Message {
            body: MessageBody::Assistant(answer),
            ..
        },
    )) = message
    else {
        return Ok(None);
    };
    let history = storage
        .older_messages(run.user_id, conversation_id, run.message_id, PageSize::WHOLE)
        .await?;
    Ok(history.map(|history| (answer, history.messages)))
}

async fn next_input(
    runs: &Inner,
    stop: &CancellationToken,
    awaited: &mut Awaited,
    patience: Timeout,
    last_sign: Instant,
    (run_deadline, run_limit): (Instant, Duration),
) -> Input {
    let (Timeout::FirstToken(limit) | Timeout::Silence(limit) | Timeout::Run(limit)) = patience;
    // Waiting to call again is our own choice, not the server's silence.
    let retrying = matches!(awaited, Awaited::Retry(_));
    tokio::select! {
        biased;
        () = stop.cancelled() => Input::Stop,
        () = runs.shutdown.cancelled() => Input::ShutDown,
        // Before the model: one that always has something to say would never let it come to its turn.
        () = tokio::time::sleep_until(run_deadline) => Input::TimedOut(Timeout::Run(run_limit)),
        input = happens(awaited) => input,
        () = tokio::time::sleep_until(last_sign + limit), if !retrying => Input::TimedOut(patience),
    }
}

/// What comes of that which is waited for.
async fn happens(awaited: &mut Awaited) -> Input {
    loop {
        match awaited {
            Awaited::Nothing => return std::future::pending().await,
            Awaited::Call(call) => match call.await {
                Ok(stream) => *awaited = Awaited::Stream(stream),
                Err(error) => {
                    *awaited = Awaited::Nothing;
                    return Input::Failed(error);
                }
            },
            Awaited::Stream(stream) => match stream.next().await {
                Some(Ok(event)) => return Input::Model(event),
                Some(Err(error)) => {
                    *awaited = Awaited::Nothing;
                    return Input::Failed(error);
                }
                None => {
                    *awaited = Awaited::Nothing;
                    return Input::BrokeOff;
                }
            },
            Awaited::Retry(sleep) => {
                sleep.await;
                *awaited = Awaited::Nothing;
                return Input::Waited;
            }
        }
    }
}

async fn call(
    models: Arc<Models>,
    model: String,
    messages: Vec<ModelMessage>,
) -> Result<ModelStream, ModelError> {
    let (endpoint, model) = models.resolve(&model)?;
    endpoint.call(ModelRequest { model, messages }).await
}

async fn end(runs: &Inner, run: RunKey, agent: &Agent, event: EventBody) {
    crash_point!("runs::ending");
    let end = Change::End {
        run,
        events: vec![event],
        message: agent.message().clone(),
    };
    match runs.journal.submit(end).await {
        Ok(_) => crash_point!("runs::ended"),
        // The conversation was deleted meanwhile.
        Err(JournalError::Refused(_)) => {}
        Err(JournalError::Unavailable(_)) => {
            tracing::error!(run = %run.message_id, "the journal is gone; the run is ended at the next start");
        }
    }
}
