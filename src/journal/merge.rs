//! Merges the appends that wait for the same commit, so that a busy journal writes fewer and longer events.

use std::collections::HashMap;

use super::QueuedChange;
use crate::{
    protocol::{EventBody, MessageId},
    storage::Change,
};

/// The maximum length of a merged delta. Readers of the log hold whole events in memory.
pub(super) const MAX_MERGED_DELTA_BYTES: usize = 16 << 10;

/// Merges consecutive appends of one run, and adjacent deltas of the same part.
pub(super) fn merge_appends(entries: impl Iterator<Item = QueuedChange>) -> Vec<QueuedChange> {
    let mut merged: Vec<QueuedChange> = Vec::new();
    // The index in `merged` of each run's entry that may still be extended.
    let mut open: HashMap<MessageId, usize> = HashMap::new();
    for entry in entries {
        let Change::AppendEvents { run, events } = entry.change else {
            // A message is stored or a run ends: no event may move across it.
            open.clear();
            merged.push(entry);
            continue;
        };
        // A caller that waits gets the outcome of its own change only.
        let joinable = entry.reply.is_none();
        match open.get(&run.message_id).and_then(|index| merged.get_mut(*index)) {
            Some(QueuedChange {
                change: Change::AppendEvents { events: earlier, .. },
                slots,
                ..
            }) if joinable => {
                *slots += entry.slots;
                for event in events {
                    push_or_merge(earlier, event);
                }
            }
            _ => {
                open.insert(run.message_id, merged.len());
                merged.push(QueuedChange {
                    change: Change::AppendEvents { run, events },
                    ..entry
                });
            }
        }
    }
    merged
}

fn push_or_merge(events: &mut Vec<EventBody>, event: EventBody) {
    use EventBody::{TextDelta, Thinking};
    match (events.last_mut(), &event) {
        (
            Some(TextDelta { node, part, text, .. }),
            TextDelta {
                node: next_node,
                part: next_part,
                text: next,
                ..
            },
        ) if (*node, *part) == (*next_node, *next_part)
            && text.len() + next.len() <= MAX_MERGED_DELTA_BYTES =>
        {
            text.push_str(next);
        }
        (
            Some(Thinking {
                node,
                part,
                text,
                took_ms,
                ..
            }),
            Thinking {
                node: next_node,
                part: next_part,
                text: next,
                took_ms: next_took_ms,
                ..
            },
        ) if (*node, *part) == (*next_node, *next_part)
            && text.len() + next.len() <= MAX_MERGED_DELTA_BYTES =>
        {
            text.push_str(next);
            *took_ms += next_took_ms;
        }
        _ => events.push(event),
    }
}

#[cfg(test)]
mod tests;
