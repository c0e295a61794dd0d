//! The context of a tool call.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::StepId;
use parlor_protocol::{
    Attachment, ConversationId, Fraction, MessageId, PageContext, PageFields, RawJson, TokenTotals,
    ToolProgress, UserId,
};

/// The owner of a tool call, the page that they look at, the call's progress reporter and its use of models.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub run: MessageId,
    /// The call's number in the run.
    pub index: usize,
    pub(super) page: Option<Arc<PageContext>>,
    /// The files of the user's messages on the branch, oldest first.
    pub files: Arc<[Attachment]>,
    pub progress: ProgressReporter,
    pub usage: UsageMeter,
}

impl ToolContext {
    /// Returns the context of a call that is repeated for its effect on a session. Nobody is told its progress.
    pub fn for_replay(
        user_id: UserId,
        conversation_id: ConversationId,
        step: StepId,
        files: Arc<[Attachment]>,
    ) -> Self {
        Self {
            user_id,
            conversation_id,
            run: step.run,
            index: step.call,
            page: None,
            files,
            progress: ProgressReporter(watch::channel(None).0),
            usage: UsageMeter::default(),
        }
    }

    /// Returns the call as a step of a session.
    pub fn step(&self) -> StepId {
        StepId {
            run: self.run,
            call: self.index,
        }
    }

    /// Returns the items that the user had open on a page when they asked; `None` if they were not there.
    pub fn page<F: PageFields>(&self) -> Option<F> {
        OpenItems(self.page.as_deref()).on_page()
    }
}

/// The items that the user had open when they asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenItems<'a>(pub Option<&'a PageContext>);

impl OpenItems<'_> {
    /// Returns those on a page; `None` if the user was not there.
    pub fn on_page<F: PageFields>(self) -> Option<F> {
        let page = self.0.filter(|page| page.current_page == F::PAGE)?;
        page.fields().ok()
    }
}

/// The origin of a tool call.
#[derive(Clone, Debug)]
pub struct CallOrigin {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub run: MessageId,
    /// The call's number in the run.
    pub index: usize,
    /// The page that the user had open when they asked.
    pub page: Option<Arc<PageContext>>,
    /// The files of the user's messages on the branch, oldest first.
    pub files: Arc<[Attachment]>,
    pub usage: UsageMeter,
}

/// Counts the tokens and the cost of the models that a call uses, also of one that fails. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct UsageMeter(Arc<Mutex<TokenTotals>>);

impl UsageMeter {
    /// Adds the use of a model.
    pub fn add(&self, used: TokenTotals) {
        let mut total = self.0.lock();
        *total = total.plus(used);
    }

    /// Returns the sum; `None` if no model was used.
    pub fn total(&self) -> Option<TokenTotals> {
        Some(*self.0.lock()).filter(|total| !total.is_empty())
    }
}

/// Reports the progress of a tool. A report that is not read in time is replaced by the next one.
#[derive(Clone, Debug)]
pub struct ProgressReporter(pub(super) watch::Sender<Option<ToolProgress>>);

impl ProgressReporter {
    /// Reports a stage: `searching`, "Found 15 articles", 0.5.
    pub fn report(&self, stage: &str, message: impl Into<String>, progress: Option<Fraction>) {
        self.report_with_data(stage, message, progress, None);
    }

    /// Reports a stage with preliminary data.
    pub fn report_with_data(
        &self,
        stage: &str,
        message: impl Into<String>,
        progress: Option<Fraction>,
        data: Option<RawJson>,
    ) {
        self.0.send_replace(Some(ToolProgress {
            stage: stage.into(),
            message: message.into(),
            progress,
            data,
        }));
    }
}
