//! Preparation of a run before its first step: reads its context and collects its tools.

use std::{collections::VecDeque, sync::Arc};

use futures::FutureExt;
use tokio::time::Instant;

use super::{
    super::{
        Inner, ReadError,
        active_runs::RunSlot,
        approved_tools::ApprovedTools,
        named_tools::with_code_tool,
        page_payloads::{self, PagePayloads},
        pending_model_call::PendingModelCall,
        recorder::Recorder,
        request_builder::ModelRequestBuilder,
        tool_choice::ToolChoice,
        tool_tasks::ToolTasks,
    },
    Driver, project_files,
    restore::RunSession,
};
use crate::{
    agent::{self, Agent},
    diagnostics::record::Purpose,
};
use parlor_base::{clock, settings::MetadataMode};
use parlor_journal::JournalError;
use parlor_pages::{
    BuiltContext, Instructions, Prompt, PromptInput, data, list_interactions, literature::READ_ARTICLE,
};
use parlor_protocol::{AssistantMessage, Attachment, Message, PayloadRef, RunEvent, RunStatus};
use parlor_providers::{BUILT_IN_ENDPOINT, endpoint_name};
use parlor_storage::{Change, PageContextSnapshot, RunChange, RunContext, RunKey, StorageErrorKind};
use parlor_tools::{
    GenerateImage, NothingNew, RetrieveFile, SearchConversations, Tool,
    memory::{Remember, RememberInProject},
};

impl<'a> Driver<'a> {
    /// Prepares a run. Returns `None` if the run was ended before it could start.
    ///
    /// # Errors
    ///
    /// If the context could not be read. If that is because the server shuts down, the next server
    /// process ends the run.
    pub(super) async fn prepare(
        runs: &'a Inner,
        run: RunKey,
        slot: &RunSlot,
    ) -> Result<Option<Self>, ReadError> {
        let read = || runs.storage.run_context(run);
        let Some(RunContext {
            answer,
            history,
            provider_data,
            mut context_snapshot,
            verdicts,
            instructions,
            project,
            may_search_chats,
            is_temporary,
            allowed_tools,
            options,
        }) = runs.retry_read("a run's context", read).await?
        else {
            // A run that was deleted with its conversation has no end; abandoning it has no effect.
            return Err(ReadError::Damaged);
        };
        if answer.status != RunStatus::Running {
            return Ok(None);
        }
        let read = || runs.permissions(run.user_id);
        let permissions = runs.retry_read("a user's permissions", read).await?;
        let is_allowed = |tool: &str| permissions.allows_tool(tool);
        if let Some(snapshot) = context_snapshot.as_mut().filter(|snapshot| {
            snapshot.text.is_empty() && runs.pages.may_describe(&snapshot.context, is_allowed)
        }) {
            tokio::select! {
                built = build_context_snapshot(runs, run, snapshot) => built?,
                // The agent receives the stop first.
                () = slot.stop.cancelled() => {}
                () = runs.shutdown.cancelled() => {}
            }
        }
        let scope = runs
            .pages
            .resolve(context_snapshot.as_ref().map(|snapshot| &snapshot.context));
        let models = Arc::new(runs.models.of_user(run.user_id).pinned());
        let mut named_tools = scope.tools.clone();
        if history.iter().any(|message| !message.files().is_empty()) {
            named_tools.push(RetrieveFile::NAME);
        }
        if may_search_chats {
            named_tools.push(SearchConversations::NAME);
        }
        let scheduled = history.last().and_then(Message::scheduled).cloned();
        if scheduled.as_ref().is_some_and(|scheduled| scheduled.only_new) {
            named_tools.push(NothingNew::NAME);
        }
        if project.is_some() {
            named_tools.push(RememberInProject::NAME);
        }
        let used_files = project_files::use_files(runs, &models, &answer.model, project.as_ref()).await;
        named_tools.extend(&used_files.tools);
        let attached = attached_files(&history);
        if !runs.files.with_tables(run.user_id, &attached).await.is_empty() {
            named_tools = data::with_file_tables(named_tools);
        }
        // The tool uses the models for all.
        let image_model = runs.models.image_model(&runs.images);
        if image_model.is_some_and(|model| permissions.allows_model(&model.id)) {
            named_tools.push(GenerateImage::NAME);
        }
        let named_tools = with_code_tool(named_tools);
        let offer = runs.tools.offer_with(&named_tools);
        let disabled = project.as_ref().map(|used| &used.project.disabled_tools[..]);
        let is_off = |name: &str| {
            let is_disabled = disabled.is_some_and(|tools| tools.iter().any(|tool| tool == name));
            // A message may ask for one all the same.
            is_disabled && !options.force_tools.iter().any(|tool| tool == name)
        };
        let is_offered = |name: &str| {
            let remembers = [Remember::NAME, RememberInProject::NAME].contains(&name);
            permissions.allows_tool(name) && !is_off(name) && !(is_temporary && remembers)
        };
        let mut offer = offer.only(is_offered);
        let session = RunSession::new(runs, run, &offer, permissions);
        if session.is_none() {
            offer = offer.without_sessions();
        }
        let source_tools = runs.tools.source_tools();
        let named = named_tools.into_iter().map(str::to_owned);
        let tool_choice = ToolChoice::new(
            &mut offer,
            models.max_tools(&answer.model),
            &models.refused_tools(&answer.model),
            named.chain(options.force_tools.iter().cloned()),
            &history,
            &answer,
        );
        let payloads = earlier_payloads(&history, &answer);
        let read = || page_payloads::load_earlier_payloads(&*runs.storage, run, &history, &answer);
        let earlier = runs.retry_read("the payloads of earlier answers", read).await?;
        let history: Arc<[Message]> = history.into();
        let page_payloads = PagePayloads::new(
            scope.payloads,
            runs.pages.payload_types(),
            runs.limits.payload_bytes,
            earlier,
            history.clone(),
        )
        .with_drafts(context_snapshot.as_ref().map(|snapshot| &snapshot.context));
        let prompt = Prompt::new(
            scope.page,
            &PromptInput {
                now: clock::now(),
                project_files: &used_files.text_for(&offer.names()),
                page_context: context_snapshot.as_ref(),
                interactions: &list_interactions(&history, &runs.history.time_zone()),
                payloads: &payloads,
                verdicts: &verdicts,
                has_tools: !offer.is_empty(),
                finds_sources: offer.finds_sources(),
                has_quotable_texts: has_quotable_texts(
                    attached.iter().chain(&used_files.attachments),
                    &scope.tools,
                ),
                guidance: &offer.guidance(),
                payload_configs: &page_payloads.payloads,
                openings: &scope.openings,
                instructions: Instructions {
                    operator: &runs.agent.instructions,
                    user: &instructions,
                    project: project
                        .as_ref()
                        .map(|used| (&*used.project.name, &*used.project.instructions)),
                },
            },
        );
        let page = context_snapshot.map(|snapshot| Arc::new(snapshot.context));
        let is_tour = endpoint_name(&answer.model) == BUILT_IN_ENDPOINT;
        let toolbox = Arc::new(ApprovedTools::new(
            offer,
            source_tools,
            page.clone(),
            is_tour,
            allowed_tools,
        ));
        let page_payloads = Arc::new(page_payloads);
        Ok(Some(Self {
            runs,
            run,
            agent: Agent::new(
                answer,
                toolbox.clone(),
                page_payloads.clone(),
                agent::AgentLimits {
                    max_iterations: runs.agent.max_iterations,
                    has_metadata: runs.history.metadata != MetadataMode::Never,
                    max_repetitions: runs.agent.repetitions,
                },
            ),
            toolbox,
            tool_choice,
            request_builder: Arc::new(ModelRequestBuilder::new(runs, run, models.clone(), options)),
            models: models.clone(),
            page_payloads,
            cost_limit: scheduled.and_then(|scheduled| scheduled.run_limit),
            history,
            project_files: used_files.attachments,
            attached: attached.clone(),
            provider_data,
            opaque_bytes: 0,
            prompt: Arc::new(prompt),
            session,
            pending_call: PendingModelCall::Idle,
            checked: VecDeque::new(),
            meter: None,
            page: page.clone(),
            tool_tasks: ToolTasks::new(
                run,
                page,
                attached,
                runs.journal.clone(),
                runs.files.clone(),
                runs.limits.clone(),
                runs.recorder_settings.secrets.clone(),
            )
            .with_views(runs.pages.payload_views().clone()),
            recorder: Recorder::new(
                run,
                runs.journal.clone(),
                models,
                runs.recorder_settings.clone(),
                Purpose::Answer,
            ),
            taken_in_sequence: 0,
            deadline: Instant::now() + runs.timeouts.run,
            produced_bytes: 0,
            rejected_images: 0,
            logged_events: 0,
            stored_events: 0,
            waits_since: Some(slot.entered),
            approval_committed: None,
        }))
    }
}

/// Waits up to `timeouts.mcp_start` for tool sources that are still connecting, and shows a status meanwhile. A stop or a
/// shutdown ends it early.
pub(super) async fn wait_for_tools(runs: &Inner, run: RunKey, slot: &RunSlot) {
    let settled = runs.wait_for_tool_sources();
    tokio::pin!(settled);
    if settled.as_mut().now_or_never().is_some() {
        return;
    }
    let message = "Waiting for tools...".into();
    runs.journal.append(run, vec![RunEvent::Status { message }]).await;
    tokio::select! {
        are_settled = settled => if !are_settled {
            tracing::warn!("an answer starts without the tools of MCP servers that have not listed them yet");
        },
        () = slot.stop.cancelled() => {}
        () = runs.shutdown.cancelled() => {}
    }
}

/// Adds the description of the page that the user looks at, and stores it, so that the model is
/// given the same description whenever the message is answered.
///
/// # Errors
///
/// If it could not be read, as for [`Driver::prepare`].
async fn build_context_snapshot(
    runs: &Inner,
    run: RunKey,
    page_context: &mut PageContextSnapshot,
) -> Result<(), ReadError> {
    let build = || runs.pages.describe(run.user_id, &page_context.context);
    let built = runs.retry_read("the page context", build).await?;
    if let Some(BuiltContext { text, instructions }) = built {
        let change = Change::Run(RunChange::StoreContextSnapshot {
            run,
            text: text.clone(),
            instructions: instructions.clone(),
        });
        match runs.journal.submit(change).await {
            // The conversation was deleted meanwhile.
            Ok(_) | Err(JournalError::Rejected(_)) => {}
            Err(JournalError::Unavailable(StorageErrorKind::Damaged)) => return Err(ReadError::Damaged),
            Err(JournalError::Unavailable(_)) => {
                tracing::error!(run = %run.message_id, "the journal has stopped; the page context is not stored");
            }
        }
        (page_context.text, page_context.instructions) = (text, instructions);
    }
    Ok(())
}

/// Returns true if Parlor has texts in which quotes are looked for: of files, or of the articles of a page.
fn has_quotable_texts<'a>(mut files: impl Iterator<Item = &'a Attachment>, tools: &[&str]) -> bool {
    let has_text = |file: &Attachment| file.text_bytes.is_some() || parlor_files::is_text(&file.media_type);
    files.any(has_text) || tools.contains(&READ_ARTICLE)
}

/// Returns the files of the user's messages that were not deleted. Those of a project are not among them: a session that has read
/// one could not be restored once it is deleted.
pub(super) fn attached_files(history: &[Message]) -> Arc<[Attachment]> {
    let own = history.iter().filter(|message| message.assistant().is_none());
    let files = own.flat_map(Message::files);
    files.filter(|file| !file.is_deleted()).cloned().collect()
}

/// Returns the payloads made for the panel on the branch that leads to an answer, and in the
/// answer, oldest first. Payloads of other branches are unknown to this one.
fn earlier_payloads(history: &[Message], answer: &AssistantMessage) -> Vec<PayloadRef> {
    let answers = history.iter().filter_map(Message::assistant).chain([answer]);
    answers.flat_map(AssistantMessage::payloads).cloned().collect()
}
