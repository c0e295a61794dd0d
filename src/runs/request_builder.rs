//! What a run's model is called with: the conversation as far as there is room for it, and how it is asked.
//!
//! How much a model can take is its server's to say, or the settings'. Where nobody knows, nothing is cut. Where there is no room
//! for all, the oldest turns are summarised by the model itself, once ([`Summariser`]): the summary is kept, and stands for them
//! from then on. A summary that can't be had is no reason to give no answer: then they are left out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    Inner,
    history::{
        ModelConversation, RunHistory,
        fit::{Room, fit},
        metadata::MetadataClock,
        tokens::{self, TokenScale},
    },
    page_payloads::PagePayloads,
    summary::{self, Summariser},
    token_meter::TokenMeter,
};
use crate::{
    clock,
    journal::Journal,
    model::{ModelRequest, ToolSpec},
    pages::{Prompt, PromptTarget},
    protocol::{AssistantMessage, Message},
    providers::Models,
    settings::{self, HistorySettings},
    storage::{Change, HistorySummary, RunKey, RunOptions},
};

/// When there is no room for all, so much of the room is filled, in percent: else the next turn would not fit either.
const FILL_PERCENT: usize = 60;

/// How much of the window an answer may be promised at most: the rest is for what it answers.
const ANSWER_SHARE_DIVISOR: usize = 2;

/// What stands for the conversation's beginning has at most this part of the room: it must not take the place of what it leads to.
const SUMMARY_SHARE_DIVISOR: usize = 4;

/// What there is room for in a call, beside the answer.
struct AvailableRoom {
    with_tools: Room,
    /// In a call that offers none, as one for a summary is.
    without_tools: Room,
}

/// What the calls of one run's model have in common.
pub(super) struct ModelRequestBuilder {
    run: RunKey,
    models: Arc<Models>,
    journal: Journal,
    settings: HistorySettings,
    prompts: settings::PromptSettings,
    options: RunOptions,
    clock: Option<MetadataClock>,
    summariser: Summariser,
    /// What stands for the conversation's beginning.
    lock_summaries: Mutex<Vec<HistorySummary>>,
}

/// A call that is about to be made.
pub(super) struct CallDraft {
    /// As `endpoint/model`.
    pub model: String,
    /// Without its prompt, which depends on what there is room for.
    pub conversation: ModelConversation,
    pub prompt: Arc<Prompt>,
    pub tools: Vec<Arc<ToolSpec>>,
    /// Whether it is the run's first.
    pub is_first: bool,
    pub scale: TokenScale,
}

impl ModelRequestBuilder {
    pub fn new(runs: &Inner, run: RunKey, mut terms: RunOptions) -> Self {
        let summaries = std::mem::take(&mut terms.summaries);
        Self {
            run,
            models: runs.models.clone(),
            journal: runs.journal.clone(),
            settings: runs.history.clone(),
            prompts: runs.prompt.clone(),
            options: terms,
            clock: MetadataClock::new(&runs.history, clock::now()),
            summariser: Summariser::new(runs, run),
            lock_summaries: Mutex::new(summaries),
        }
    }

    /// The call that goes on with an answer that has come to `begun`.
    pub fn draft_call(
        &self,
        prompt: Arc<Prompt>,
        run_history: RunHistory<'_>,
        page_payloads: &PagePayloads,
        tools: Vec<Arc<ToolSpec>>,
    ) -> CallDraft {
        let conversation = ModelConversation::new(run_history, page_payloads, self.clock.as_ref());
        let (history, (_, begun)) = (run_history.history, run_history.answer);
        CallDraft {
            model: begun.model.clone(),
            conversation,
            prompt,
            tools,
            is_first: begun.nodes.is_empty(),
            scale: token_scale(history, begun),
        }
    }

    /// Finds out how much room there is, and makes the conversation fit.
    pub async fn prepare(self: Arc<Self>, mut call: CallDraft) -> (Arc<ModelRequest>, TokenMeter) {
        let window = self.models.context_window(&call.model).await;
        let listener = PromptTarget {
            is_short: self
                .prompts
                .is_short(self.models.prompt_length(&call.model), window),
            supports_tools: self.models.takes_tools(&call.model),
            window,
        };
        call.conversation.prompt = call.prompt.render(listener);
        if !listener.supports_tools {
            call.tools.clear();
        }
        let for_tools = tokens::estimate_tools(&call.tools);
        let (conversation, tokens) = match window {
            Some(window) => {
                let free = AvailableRoom {
                    with_tools: self.compute_room(window, call.scale, for_tools),
                    without_tools: self.compute_room(window, call.scale, 0),
                };
                self.fit_conversation(&call.model, call.conversation, free).await
            }
            None => {
                let tokens = call.conversation.tokens();
                (call.conversation, tokens)
            }
        };
        let meter = TokenMeter::new(tokens + for_tools, call.scale, window);
        let request = ModelRequest {
            tools: call.tools,
            force_tools: match call.is_first {
                true => self.options.force_tools.clone(),
                false => Vec::new(),
            },
            parameters: self.options.parameters.clone(),
            ..ModelRequest::new(call.model, conversation.messages())
        };
        (Arc::new(request), meter)
    }

    /// What there is room for beside the tools and the answer.
    fn compute_room(&self, window: usize, scale: TokenScale, for_tools: usize) -> Room {
        let answer = self.options.parameters.max_completion_tokens;
        let answer = answer.unwrap_or(self.settings.answer_tokens);
        let counted = window - answer.min(window / ANSWER_SHARE_DIVISOR);
        Room {
            tokens: scale.to_estimated(counted).saturating_sub(for_tools),
            max_output_bytes: self.settings.short_output_bytes,
        }
    }

    /// What of a conversation there is room for, and what that comes to.
    async fn fit_conversation(
        &self,
        model: &str,
        mut conversation: ModelConversation,
        free: AvailableRoom,
    ) -> (ModelConversation, usize) {
        let room = free.with_tools;
        let tokens = conversation.tokens();
        if tokens <= room.tokens {
            return (conversation, tokens);
        }
        let most = room.tokens / SUMMARY_SHARE_DIVISOR;
        conversation.apply_summary(&self.summaries(), most);
        let fits_without = fit(conversation.clone(), room);
        if fits_without.omitted_turns == 0 || !self.settings.summarise || most < summary::MIN_SUMMARY_TOKENS {
            return fits_without.into_parts();
        }
        let comfortable = Room {
            tokens: room.tokens * FILL_PERCENT / 100,
            ..room
        };
        // At least what has to go.
        let count = fit(conversation.clone(), comfortable).omitted_turns;
        let count = count.max(fits_without.omitted_turns);
        let made = self
            .summariser
            .summarise(model, &conversation, count, free.without_tools.tokens, most)
            .await;
        let Some(summary) = made else {
            return fits_without.into_parts();
        };
        let change = Change::StoreSummary {
            run: self.run,
            summary: summary.clone(),
        };
        if let Err(error) = self.journal.submit(change).await {
            tracing::warn!(%error, "a summary could not be kept; it will be made again");
        }
        self.summaries().push(summary);
        conversation.apply_summary(&self.summaries(), most);
        fit(conversation, room).into_parts()
    }

    fn summaries(&self) -> MutexGuard<'_, Vec<HistorySummary>> {
        self.lock_summaries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the last call that was counted tells, if it was of the same model.
fn token_scale(history: &[Message], begun: &AssistantMessage) -> TokenScale {
    let answers = history.iter().filter_map(Message::assistant).chain([begun]);
    let mut usages = answers
        .filter(|answer| answer.model == begun.model)
        .filter_map(|answer| answer.usage);
    usages
        .rfind(|usage| !usage.estimated)
        .map_or(TokenScale::UNKNOWN, |usage| TokenScale::from_usage(&usage))
}
