//! The tools that a run may use, and which of them the person need not be asked about any more.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use crate::{
    model::{ToolPlan, Toolbox},
    tools::Offer,
};

/// An offer of tools, with the person's answers so far.
#[derive(Debug)]
pub(super) struct Allowed {
    offer: Offer,
    /// Those that may always be used in this conversation.
    always: Mutex<HashSet<String>>,
}

impl Allowed {
    pub fn new(offer: Offer, always: impl IntoIterator<Item = String>) -> Self {
        Self {
            offer,
            always: Mutex::new(always.into_iter().collect()),
        }
    }

    pub fn offer(&self) -> &Offer {
        &self.offer
    }

    /// The person need not be asked about this tool from now on.
    pub fn allow(&self, tool: &str) {
        self.always
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tool.into());
    }
}

impl Toolbox for Allowed {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        let mut plan = self.offer.plan(tool, arguments)?;
        let always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
        plan.needs_approval &= !always.contains(tool);
        Ok(plan)
    }
}
