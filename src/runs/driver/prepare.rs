//! A run before its first step: what it begins with is read, and what it is offered is found out.

use std::sync::Arc;

use futures::FutureExt;
use tokio::time::Instant;

use super::{
    super::{
        Inner, Unread,
        allowed::Allowed,
        at_work::Place,
        awaited::Awaited,
        context::Context,
        recorder::Recorder,
        working::Working,
        workshop::{self, Desk},
    },
    Driver, seconds,
};
use crate::{
    agent::{self, Agent},
    clock,
    diagnostics::record::Purpose,
    journal::JournalError,
    pages::{Built, Instructions, Known, Prompt, interactions},
    protocol::{AssistantMessage, EventBody, Message, PayloadRef, RunStatus},
    settings::Metadata,
    storage::{Beginning, Change, Looking, RunKey, Trouble},
};

impl<'a> Driver<'a> {
    /// Nothing if the run was ended before it came to its turn.
    ///
    /// # Errors
    ///
    /// If it could not be read. If that is because the server goes down, the next one ends it.
    pub(super) async fn prepare(runs: &'a Inner, run: RunKey, place: &Place) -> Result<Option<Self>, Unread> {
        let read = || runs.storage.beginning(run);
        let Some(Beginning {
            answer,
            history,
            opaque,
            mut looking,
            verdicts,
            instructions,
            allowed_tools,
            terms,
        }) = runs.insist("what a run begins with", read).await?
        else {
            // One that was deleted with its conversation has no end, and giving it up does nothing.
            return Err(Unread::Damaged);
        };
        if answer.status != RunStatus::Running {
            return Ok(None);
        }
        if let Some(looking) = looking.as_mut().filter(|looking| looking.text.is_empty()) {
            tokio::select! {
                built = look(runs, run, looking) => built?,
                // The agent is told so first.
                () = place.stop.cancelled() => {}
                () = runs.shutdown.cancelled() => {}
            }
        }
        let here = runs
            .pages
            .resolve(looking.as_ref().map(|looking| &looking.context));
        let offer = runs.tools.offer_with(&here.tools);
        let payloads = shown_before(&history, &answer);
        let read = || workshop::made(&*runs.storage, run, &history, &answer);
        let made = runs.insist("what the model made", read).await?;
        let history: Arc<[Message]> = history.into();
        let desk = Desk::new(
            here.payloads,
            here.actions,
            runs.limits.payload_bytes,
            made,
            history.clone(),
        );
        let prompt = Prompt::new(
            here.page,
            &Known {
                now: clock::now(),
                looking: looking.as_ref(),
                interactions: &interactions(&history, &runs.history.zone()),
                payloads: &payloads,
                verdicts: &verdicts,
                has_tools: !offer.is_empty(),
                finds_sources: offer.finds_sources(),
                servers: &offer.guidance(),
                written: &desk.payloads,
                actions: &desk.actions,
                instructions: Instructions {
                    server: &runs.agent.instructions,
                    person: &instructions,
                },
            },
        );
        let toolbox = Arc::new(Allowed::new(offer, allowed_tools));
        let desk = Arc::new(desk);
        Ok(Some(Self {
            runs,
            run,
            agent: Agent::new(
                answer,
                toolbox.clone(),
                desk.clone(),
                agent::Terms {
                    max_iterations: runs.agent.max_iterations,
                    has_metadata: runs.history.metadata != Metadata::Never,
                    repetitions: runs.agent.repetitions,
                },
            ),
            toolbox,
            context: Arc::new(Context::new(runs, run, terms)),
            desk,
            history,
            opaque,
            opaque_bytes: 0,
            prompt: Arc::new(prompt),
            awaited: Awaited::Nothing,
            working: Working::new(
                run,
                runs.journal.clone(),
                runs.limits.clone(),
                runs.recording.secrets.clone(),
            ),
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
        }))
    }
}

/// The first runs after a start wait a little for tools that are still to come.
pub(super) async fn wait_for_tools(runs: &Inner, run: RunKey, place: &Place) {
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

/// Adds what the model is told of what the person looks at, and keeps it: whenever their message is answered, the model is told
/// the same.
///
/// # Errors
///
/// If it could not be read, as [`Driver::prepare`].
async fn look(runs: &Inner, run: RunKey, looking: &mut Looking) -> Result<(), Unread> {
    let build = || runs.pages.build(run.user_id, &looking.context);
    let built = runs.insist("what is open on the page", build).await?;
    if let Some(Built { text, instructions }) = built {
        let keep = Change::KeepLooking {
            run,
            text: text.clone(),
            instructions: instructions.clone(),
        };
        match runs.journal.submit(keep).await {
            // The conversation was deleted meanwhile.
            Ok(_) | Err(JournalError::Refused(_)) => {}
            Err(JournalError::Unavailable(Trouble::Damaged)) => return Err(Unread::Damaged),
            Err(JournalError::Unavailable(_)) => {
                tracing::error!(run = %run.message_id, "the journal is gone; what was open on the page is not kept");
            }
        }
        (looking.text, looking.instructions) = (text, instructions);
    }
    Ok(())
}

/// What was made for the panel on the branch that leads to an answer, and in it, oldest first. What another branch has is nothing that
/// this one knows of.
fn shown_before(history: &[Message], answer: &AssistantMessage) -> Vec<PayloadRef> {
    let answers = history.iter().filter_map(Message::assistant).chain([answer]);
    answers.flat_map(AssistantMessage::payloads).cloned().collect()
}
