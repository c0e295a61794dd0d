//! Builds the request of a model call: the part of the conversation that fits, and the options of
//! the call.
//!
//! The context window is given by the model server or by the settings. If it is unknown, nothing is
//! cut. If the conversation does not fit, the model itself summarizes the oldest turns once
//! ([`Summarizer`]); the summary is stored and replaces them from then on. If the summary fails,
//! the oldest turns are omitted, and the run still answers.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{
    Inner,
    history::{
        FileLoader, ModelConversation, RunHistory,
        fit::{Room, fit},
        metadata::MetadataClock,
        tokens::{self, TokenScale},
    },
    page_payloads::PagePayloads,
    summary::{self, Summarizer},
    token_meter::TokenMeter,
};
use parlor_base::{
    clock,
    settings::{self, HistorySettings},
};
use parlor_files::Files;
use parlor_journal::Journal;
use parlor_model::{ModelRequest, ToolSpec};
use parlor_pages::{Prompt, PromptTarget};
use parlor_protocol::{AssistantMessage, Message, TokenTotals};
use parlor_providers::Models;
use parlor_storage::{Change, HistorySummary, RunKey, RunOptions, RunOutput, Storage};

/// The share of the room, in percent, that is filled when the conversation does not fit. Otherwise
/// the next turn would not fit either.
const FILL_PERCENT: usize = 60;

/// The divisor for the maximum length of an answer: half of the window. The rest is for the conversation.
const ANSWER_SHARE_DIVISOR: usize = 2;

/// The divisor for the maximum size of a summary: a quarter of the room, so that it does not displace the turns
/// after it.
const SUMMARY_SHARE_DIVISOR: usize = 4;

/// The room in a call, without the answer.
struct AvailableRoom {
    with_tools: Room,
    /// The room in a call that offers no tools, such as a call for a summary.
    without_tools: Room,
}

/// The common parts of all model calls of one run.
pub(super) struct ModelRequestBuilder {
    run: RunKey,
    models: Arc<Models>,
    journal: Journal,
    storage: Arc<dyn Storage>,
    files: Files,
    settings: HistorySettings,
    prompts: settings::PromptSettings,
    options: RunOptions,
    clock: Option<MetadataClock>,
    summarizer: Summarizer,
    /// Summaries of the conversation's beginning.
    summaries: Mutex<Vec<HistorySummary>>,
}

/// A call that is being prepared.
pub(super) struct CallDraft {
    /// The model's id, as `endpoint/model`.
    pub model: String,
    /// The conversation without a prompt, which depends on the room.
    pub conversation: ModelConversation,
    pub prompt: Arc<Prompt>,
    pub tools: Vec<Arc<ToolSpec>>,
    /// True if the call is the run's first.
    pub is_first: bool,
    pub scale: TokenScale,
    /// The tokens and the cost of the answer's calls before.
    pub totals: TokenTotals,
}

impl ModelRequestBuilder {
    pub fn new(runs: &Inner, run: RunKey, models: Arc<Models>, mut options: RunOptions) -> Self {
        let summaries = std::mem::take(&mut options.summaries);
        Self {
            run,
            summarizer: Summarizer::new(runs, models.clone(), run),
            models,
            journal: runs.journal.clone(),
            storage: runs.storage.clone(),
            files: runs.files.clone(),
            settings: runs.history.clone(),
            prompts: runs.prompt.clone(),
            options,
            clock: MetadataClock::new(&runs.history, clock::now()),
            summaries: Mutex::new(summaries),
        }
    }

    /// Drafts the call that continues the answer of the run.
    pub fn draft_call(
        &self,
        prompt: Arc<Prompt>,
        run_history: RunHistory<'_>,
        page_payloads: &PagePayloads,
        tools: Vec<Arc<ToolSpec>>,
    ) -> CallDraft {
        let conversation = ModelConversation::new(run_history, page_payloads, self.clock.as_ref());
        let (history, (_, answer)) = (run_history.history, run_history.answer);
        CallDraft {
            model: answer.model.clone(),
            conversation,
            prompt,
            tools,
            is_first: answer.nodes.is_empty(),
            scale: token_scale(history, answer),
            totals: answer.usage.map(|usage| usage.totals).unwrap_or_default(),
        }
    }

    /// Computes the room and fits the conversation into it.
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
        let capabilities = self.models.capabilities(&call.model);
        let loader = FileLoader {
            files: &self.files,
            storage: &*self.storage,
            user_id: self.run.user_id,
            capabilities: &capabilities,
        };
        loader.estimate(&mut call.conversation);
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
        let continues_answer = conversation.continues_answer;
        let messages = loader.load(conversation.messages()).await;
        let meter = TokenMeter::new(tokens + for_tools, call.scale, window);
        let summaries = self.summarizer.take_unreported();
        let meter = meter
            .with_totals(call.totals.plus(summaries), capabilities.prices)
            .with_unreported(summaries);
        let request = ModelRequest {
            tools: call.tools,
            force_tools: match call.is_first {
                true => self.options.force_tools.clone(),
                false => Vec::new(),
            },
            continues_answer,
            parameters: self
                .models
                .adapt_parameters(&call.model, &self.options.parameters),
            ..ModelRequest::new(call.model, messages)
        };
        (Arc::new(request), meter)
    }

    /// Returns the room that the tools and the answer leave in the window.
    fn compute_room(&self, window: usize, scale: TokenScale, for_tools: usize) -> Room {
        let answer = self.options.parameters.max_completion_tokens;
        let answer = answer.unwrap_or(self.settings.answer_tokens);
        let counted = window - answer.min(window / ANSWER_SHARE_DIVISOR);
        Room {
            tokens: scale.to_estimated(counted).saturating_sub(for_tools),
            max_output_bytes: self.settings.short_output_bytes,
        }
    }

    /// Returns the tokens and the cost of summaries for a call that is given up before it is sent.
    pub fn take_unreported(&self) -> TokenTotals {
        self.summarizer.take_unreported()
    }

    /// Fits a conversation into the room, and returns it with its estimated tokens.
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
        let max_summary_tokens = room.tokens / SUMMARY_SHARE_DIVISOR;
        conversation.apply_summary(&self.summaries.lock(), max_summary_tokens);
        let fits_without = fit(conversation.clone(), room);
        if fits_without.omitted_turns == 0
            || !self.settings.summarize
            || max_summary_tokens < summary::MIN_SUMMARY_TOKENS
        {
            return fits_without.into_parts();
        }
        let comfortable = Room {
            tokens: room.tokens * FILL_PERCENT / 100,
            ..room
        };
        // The minimum number of turns to omit.
        let count = fit(conversation.clone(), comfortable).omitted_turns;
        let count = count.max(fits_without.omitted_turns);
        let summary = self
            .summarizer
            .summarize(
                model,
                &conversation,
                count,
                free.without_tools.tokens,
                max_summary_tokens,
            )
            .await;
        let Some(summary) = summary else {
            return fits_without.into_parts();
        };
        let change = Change::Output {
            run: self.run,
            output: RunOutput::StoreSummary {
                summary: summary.clone(),
            },
        };
        if let Err(error) = self.journal.submit(change).await {
            tracing::warn!(%error, "a summary could not be stored; it will be made again");
        }
        self.summaries.lock().push(summary);
        conversation.apply_summary(&self.summaries.lock(), max_summary_tokens);
        fit(conversation, room).into_parts()
    }
}

/// Returns the scale from the last counted call, if that was of the same model.
fn token_scale(history: &[Message], current: &AssistantMessage) -> TokenScale {
    let answers = history.iter().filter_map(Message::assistant).chain([current]);
    let mut usages = answers
        .filter(|answer| answer.model == current.model)
        .filter_map(|answer| answer.usage);
    usages
        .rfind(|usage| !usage.estimated)
        .map_or(TokenScale::UNKNOWN, |usage| TokenScale::from_usage(&usage))
}
