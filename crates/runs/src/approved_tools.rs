//! The tools that a run may use, and those that no longer need the user's approval.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;

use parlor_model::{ToolPlan, Toolbox};
use parlor_protocol::PageContext;
use parlor_tools::{OpenItems, ToolOffer};

/// The tools offered to a run, with the user's approvals so far.
#[derive(Debug)]
pub(super) struct ApprovedTools {
    offer: ToolOffer,
    /// The names of the tools that find sources, also those of other pages: earlier answers have called them.
    source_tools: HashSet<String>,
    /// The page that the user had open when they asked.
    page: Option<Arc<PageContext>>,
    /// True if every tool asks: the tour shows how that looks.
    is_tour: bool,
    /// Tools that are always allowed in this conversation.
    always_allowed: Mutex<HashSet<String>>,
}

impl ApprovedTools {
    pub fn new(
        offer: ToolOffer,
        source_tools: HashSet<String>,
        page: Option<Arc<PageContext>>,
        is_tour: bool,
        always: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            offer,
            source_tools,
            page,
            is_tour,
            always_allowed: Mutex::new(always.into_iter().collect()),
        }
    }

    pub fn offer(&self) -> &ToolOffer {
        &self.offer
    }

    /// Marks a tool as approved from now on.
    pub fn allow(&self, tool: &str) {
        self.always_allowed.lock().insert(tool.into());
    }
}

impl Toolbox for ApprovedTools {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        let mut plan = self
            .offer
            .plan(tool, arguments, OpenItems(self.page.as_deref()))?;
        let always = self.always_allowed.lock();
        plan.needs_approval = (plan.needs_approval || self.is_tour) && !always.contains(tool);
        Ok(plan)
    }

    fn finds_sources(&self, tool: &str) -> bool {
        self.source_tools.contains(tool)
    }
}
