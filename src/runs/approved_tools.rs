//! The tools that a run may use, and which of them the person need not be asked about any more.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use crate::{
    model::{ToolPlan, Toolbox},
    tools::ToolOffer,
};

/// An offer of tools, with the person's answers so far.
#[derive(Debug)]
pub(super) struct ApprovedTools {
    offer: ToolOffer,
    /// Those that may always be used in this conversation.
    always_allowed: Mutex<HashSet<String>>,
}

impl ApprovedTools {
    pub fn new(offer: ToolOffer, always: impl IntoIterator<Item = String>) -> Self {
        Self {
            offer,
            always_allowed: Mutex::new(always.into_iter().collect()),
        }
    }

    pub fn offer(&self) -> &ToolOffer {
        &self.offer
    }

    /// The person need not be asked about this tool from now on.
    pub fn allow(&self, tool: &str) {
        self.always_allowed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tool.into());
    }
}

impl Toolbox for ApprovedTools {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        let mut plan = self.offer.plan(tool, arguments)?;
        let always = self.always_allowed.lock().unwrap_or_else(PoisonError::into_inner);
        plan.needs_approval &= !always.contains(tool);
        Ok(plan)
    }
}
