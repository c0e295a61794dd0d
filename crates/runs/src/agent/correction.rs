//! The correction of a payload that does not fit its type: the model is told why and may write it once more in a run. Nothing of
//! the rejected one is shown, unless that fails, too: then it is text.

use super::{Agent, control::RejectedPayload};
use parlor_base::text::truncate_chars;
use parlor_protocol::Part;

/// The maximum length of what is quoted of a rejected payload, in characters.
const MAX_QUOTED_CHARS: usize = 4000;

/// The state of the correction.
#[derive(Clone, Debug, Default)]
pub(super) struct Correction {
    /// The rejected payload of the current answer.
    rejected: Option<RejectedPayload>,
    /// The request, while the model is called for it.
    request: Option<String>,
    has_begun: bool,
}

impl Correction {
    /// Keeps a rejected payload for a correction. Returns its text if there is none any more.
    pub fn reject(&mut self, rejected: RejectedPayload) -> Option<String> {
        if self.has_begun || self.rejected.is_some() {
            return Some(rejected.raw);
        }
        self.rejected = Some(rejected);
        None
    }

    /// Returns true if the model is to be called for a correction.
    pub fn is_due(&self) -> bool {
        self.rejected.is_some()
    }

    /// Begins a model call. Returns true if it is for the correction.
    pub fn begin_call(&mut self) -> bool {
        self.request = self.rejected.take().map(|rejected| request(&rejected));
        self.has_begun |= self.request.is_some();
        self.request.is_some()
    }
}

impl Agent {
    /// Returns the request to correct a payload, if the current model call is for that.
    pub fn correction(&self) -> Option<&str> {
        self.correction.request.as_deref()
    }

    /// Returns true if text is the last thing of the answer.
    pub(super) fn ends_with_text(&self) -> bool {
        let mut nodes = self.message.nodes.iter().rev();
        let last = nodes.find_map(|node| node.parts.last());
        matches!(last, Some(Part::Text { .. }))
    }
}

fn request(rejected: &RejectedPayload) -> String {
    let marker = rejected.marker.trim_end_matches(':');
    let reason = truncate_chars(&rejected.reason, MAX_QUOTED_CHARS);
    let raw = truncate_chars(rejected.raw.trim(), MAX_QUOTED_CHARS);
    format!(
        "(Parlor did not accept your {marker}: {reason}. The person does not see it. Write only it again, corrected, with its JSON, and \
         no other words. You wrote:\n{raw})"
    )
}
