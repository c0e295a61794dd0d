//! What a run's model is called with: the conversation as far as there is room for it, and how it is asked.
//!
//! How much a model can take is its server's to say, or the settings'. Where nobody knows, nothing is cut. Where there is no room
//! for all, the oldest turns are summarised by the model itself, once ([`Summariser`]): the summary is kept, and stands for them
//! from then on. A summary that can't be had is no reason to give no answer: then they are left out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Inner,
    history::{
        Conversation, Told,
        fit::{Room, fit},
        metadata::Clock,
        tokens::{self, Scale},
    },
    meter::Meter,
    summary::{self, Summariser},
    workshop::Desk,
};
use crate::{
    clock,
    journal::Journal,
    model::{ModelRequest, ToolSpec},
    pages::{Listener, Prompt},
    protocol::{AssistantMessage, Message},
    providers::Models,
    settings::{self, History},
    storage::{Change, RunKey, Summary, Terms},
};

/// When there is no room for all, so much of the room is filled, in percent: else the next turn would not fit either.
const FILLED: usize = 60;

/// How much of the window an answer may be promised at most: the rest is for what it answers.
const MOST_FOR_ANSWER: usize = 2;

/// What stands for the conversation's beginning has at most this part of the room: it must not take the place of what it leads to.
const SHARE_OF_SUMMARY: usize = 4;

/// What there is room for in a call, beside the answer.
struct Free {
    beside_tools: Room,
    /// In a call that offers none, as one for a summary is.
    without_tools: Room,
}

/// What the calls of one run's model have in common.
pub(super) struct Context {
    run: RunKey,
    models: Arc<Models>,
    journal: Journal,
    settings: History,
    prompts: settings::Prompt,
    terms: Terms,
    clock: Option<Clock>,
    summariser: Summariser,
    /// What stands for the conversation's beginning.
    summaries: Mutex<Vec<Summary>>,
}

/// A call that is about to be made.
pub(super) struct Call {
    /// As `endpoint/model`.
    pub model: String,
    /// Without its prompt, which depends on what there is room for.
    pub conversation: Conversation,
    pub prompt: Arc<Prompt>,
    pub tools: Vec<Arc<ToolSpec>>,
    /// Whether it is the run's first.
    pub is_first: bool,
    pub scale: Scale,
}

impl Context {
    pub fn new(runs: &Inner, run: RunKey, mut terms: Terms) -> Self {
        let summaries = std::mem::take(&mut terms.summaries);
        Self {
            run,
            models: runs.models.clone(),
            journal: runs.journal.clone(),
            settings: runs.history.clone(),
            prompts: runs.prompt.clone(),
            terms,
            clock: Clock::new(&runs.history, clock::now()),
            summariser: Summariser::new(runs, run),
            summaries: Mutex::new(summaries),
        }
    }

    /// The call that goes on with an answer that has come to `begun`.
    pub fn call(&self, prompt: Arc<Prompt>, told: Told<'_>, desk: &Desk, tools: Vec<Arc<ToolSpec>>) -> Call {
        let conversation = Conversation::new(told, desk, self.clock.as_ref());
        let (history, (_, begun)) = (told.history, told.begun);
        Call {
            model: begun.model.clone(),
            conversation,
            prompt,
            tools,
            is_first: begun.nodes.is_empty(),
            scale: scale(history, begun),
        }
    }

    /// Finds out how much room there is, and makes the conversation fit.
    pub async fn prepare(self: Arc<Self>, mut call: Call) -> (Arc<ModelRequest>, Meter) {
        let window = self.models.context_window(&call.model).await;
        let listener = Listener {
            is_short: self
                .prompts
                .is_short(self.models.prompt_length(&call.model), window),
            takes_tools: self.models.takes_tools(&call.model),
            window,
        };
        call.conversation.prompt = call.prompt.for_listener(listener);
        if !listener.takes_tools {
            call.tools.clear();
        }
        let for_tools = tokens::of_tools(&call.tools);
        let (conversation, tokens) = match window {
            Some(window) => {
                let free = Free {
                    beside_tools: self.room(window, call.scale, for_tools),
                    without_tools: self.room(window, call.scale, 0),
                };
                self.fitted(&call.model, call.conversation, free).await
            }
            None => {
                let tokens = call.conversation.tokens();
                (call.conversation, tokens)
            }
        };
        let meter = Meter::new(tokens + for_tools, call.scale, window);
        let request = ModelRequest {
            tools: call.tools,
            force_tools: match call.is_first {
                true => self.terms.force_tools.clone(),
                false => Vec::new(),
            },
            parameters: self.terms.parameters.clone(),
            ..ModelRequest::new(call.model, conversation.messages())
        };
        (Arc::new(request), meter)
    }

    /// What there is room for beside the tools and the answer.
    fn room(&self, window: usize, scale: Scale, for_tools: usize) -> Room {
        let answer = self.terms.parameters.max_completion_tokens;
        let answer = answer.unwrap_or(self.settings.answer_tokens);
        let counted = window - answer.min(window / MOST_FOR_ANSWER);
        Room {
            tokens: scale.estimated(counted).saturating_sub(for_tools),
            short: self.settings.short_output_bytes,
        }
    }

    /// What of a conversation there is room for, and what that comes to.
    async fn fitted(&self, model: &str, mut conversation: Conversation, free: Free) -> (Conversation, usize) {
        let room = free.beside_tools;
        let tokens = conversation.tokens();
        if tokens <= room.tokens {
            return (conversation, tokens);
        }
        let most = room.tokens / SHARE_OF_SUMMARY;
        conversation.apply(&self.summaries(), most);
        let fits_without = fit(conversation.clone(), room);
        if fits_without.left_out == 0 || !self.settings.summarise || most < summary::LEAST {
            return fits_without.counted();
        }
        let comfortable = Room {
            tokens: room.tokens * FILLED / 100,
            ..room
        };
        // At least what has to go.
        let count = fit(conversation.clone(), comfortable).left_out;
        let count = count.max(fits_without.left_out);
        let made = self
            .summariser
            .summarise(model, &conversation, count, free.without_tools.tokens, most)
            .await;
        let Some(summary) = made else {
            return fits_without.counted();
        };
        let change = Change::Summarise {
            run: self.run,
            summary: summary.clone(),
        };
        if let Err(error) = self.journal.submit(change).await {
            tracing::warn!(%error, "a summary could not be kept; it will be made again");
        }
        self.summaries().push(summary);
        conversation.apply(&self.summaries(), most);
        fit(conversation, room).counted()
    }

    fn summaries(&self) -> MutexGuard<'_, Vec<Summary>> {
        self.summaries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the last call that was counted tells, if it was of the same model.
fn scale(history: &[Message], begun: &AssistantMessage) -> Scale {
    let answers = history.iter().filter_map(Message::assistant).chain([begun]);
    let mut usages = answers
        .filter(|answer| answer.model == begun.model)
        .filter_map(|answer| answer.usage);
    usages
        .rfind(|usage| !usage.estimated)
        .map_or(Scale::UNKNOWN, |usage| Scale::of(&usage))
}
