//! The names of the streams that were last described to a model, for approvals of calls about the open one.

use std::collections::VecDeque;

use parking_lot::Mutex;

use parlor_protocol::{ResearchStreamId, literature::ResearchStream};

/// The number of names that are kept: one for each run that may call a tool at the same time, and more.
const MAX_NAMES: usize = 1000;

/// The names by stream, the last described first. They are looked up only for the open stream of a request, which is the user's own.
#[derive(Debug, Default)]
pub(super) struct StreamNames(Mutex<VecDeque<(ResearchStreamId, String)>>);

impl StreamNames {
    pub fn insert(&self, stream: &ResearchStream) {
        let mut names = self.0.lock();
        names.retain(|(id, _)| *id != stream.id);
        names.truncate(MAX_NAMES - 1);
        names.push_front((stream.id, stream.name.clone()));
    }

    pub fn get(&self, id: ResearchStreamId) -> Option<String> {
        let names = self.0.lock();
        let known = names.iter().find(|(known, _)| *known == id);
        known.map(|(_, name)| name.clone())
    }
}
