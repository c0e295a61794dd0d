//! The number of images that an answer has.

use std::collections::VecDeque;

use parking_lot::Mutex;

use super::GenerateImage;
use crate::Tool;
use parlor_files::is_image;
use parlor_protocol::{AssistantMessage, MessageId, Part};

/// Maximum number of runs that are counted. Earlier ones have ended, or their messages say how many they have.
const MAX_RUNS: usize = 500;

/// Counts the images that models have made for a message: by the tool, and in the answer itself.
pub fn made_images(message: &AssistantMessage) -> usize {
    let parts = message.nodes.iter().flat_map(|node| &node.parts);
    let images = parts.map(|part| match part {
        Part::ToolCall(call) if call.tool == GenerateImage::NAME => call.attachments.len(),
        Part::File { file } => usize::from(is_image(file)),
        _ => 0,
    });
    images.sum()
}

/// Counts the images of each run, with those that are being made.
#[derive(Debug, Default)]
pub struct ImageCount(Mutex<VecDeque<(MessageId, usize)>>);

impl ImageCount {
    /// Counts an image that a run is going to have. `stored` is the number that its message has at least. Returns false if
    /// it has `limit` already.
    pub fn add(&self, run: MessageId, stored: usize, limit: usize) -> bool {
        let mut counts = self.0.lock();
        let known = counts.iter().position(|(known, _)| *known == run);
        let count = known.and_then(|index| counts.remove(index));
        let count = count.map_or(stored, |(_, count)| count.max(stored));
        let has_room = count < limit;
        if counts.len() == MAX_RUNS {
            counts.pop_front();
        }
        counts.push_back((run, count + usize::from(has_room)));
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_its_own_limit() {
        let (count, one, other) = (ImageCount::default(), MessageId::new(), MessageId::new());
        let added: Vec<bool> = [one, one, other, one, other, other]
            .map(|run| count.add(run, 0, 2))
            .into();
        assert_eq!(added, [true, true, true, false, true, false]);
        assert!(!count.add(MessageId::new(), 0, 0));
        for _ in 0..2 * MAX_RUNS {
            count.add(MessageId::new(), 0, 1);
        }
        assert_eq!(count.0.lock().len(), MAX_RUNS);
    }

    #[test]
    fn stored_images_count() {
        // As after a restart: two are stored, and one more is being made.
        let (count, run) = (ImageCount::default(), MessageId::new());
        let added = [2, 2].map(|stored| count.add(run, stored, 3));
        assert_eq!(added, [true, false]);
    }
}
