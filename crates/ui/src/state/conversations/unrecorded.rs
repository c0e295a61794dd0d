//! Messages that a page shows and the server has lost, because its data was replaced by an older copy.

use parlor_protocol::{Message, MessageBody, MessageId, Part, Transcript};

/// Messages that exist only on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecordedMessages {
    /// The message on the server after which they stood; `None` if they were the first.
    pub after: Option<MessageId>,
    pub messages: Vec<Message>,
}

/// Finds the messages in `held`, the transcript on the screen, that the server's transcript `now` lacks. Without `now`
/// the conversation does not exist any more. An answer of which the server has only the beginning counts as lost too.
pub fn find_unrecorded(held: &Transcript, now: Option<&Transcript>) -> Option<UnrecordedMessages> {
    let known = |message: &Message| now.and_then(|now| now.message(message.id));
    // Messages older than a snapshot's first one may be outside its range.
    let begins = now.and_then(|now| now.messages.first().map(|first| first.created_at));
    let is_lost = |message: &&Message| {
        begins.is_none_or(|begins| message.created_at >= begins)
            && message_length(message) > known(message).map_or(0, message_length)
    };
    let branch = held.shown_branch();
    let messages: Vec<Message> = branch.iter().copied().filter(&is_lost).cloned().collect();
    let first = branch.iter().position(&is_lost)?;
    let after = branch[..=first]
        .iter()
        .rev()
        .find(|message| known(message).is_some());
    Some(UnrecordedMessages {
        after: after.map(|message| message.id),
        messages,
    })
}

/// The length of the readable text in bytes.
fn message_length(message: &Message) -> usize {
    match &message.body {
        MessageBody::User { text, .. } => text.len(),
        MessageBody::Damaged => 0,
        MessageBody::Assistant(assistant) => {
            let parts = assistant.nodes.iter().flat_map(|node| &node.parts);
            parts.map(part_length).sum()
        }
    }
}

fn part_length(part: &Part) -> usize {
    match part {
        Part::Thinking { text } | Part::Text { text } => text.len(),
        Part::Payload { .. } | Part::File { .. } => 1,
        Part::ToolCall(call) => 1 + call.output.as_ref().map_or(0, String::len),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::test_events::Story;

    fn ids(held: &Transcript, from: usize) -> Vec<MessageId> {
        held.shown_branch()[from..]
            .iter()
            .map(|message| message.id)
            .collect()
    }

    fn find_ids(held: &Transcript, now: Option<&Transcript>) -> Option<(Option<MessageId>, Vec<MessageId>)> {
        let unrecorded = find_unrecorded(held, now)?;
        Some((
            unrecorded.after,
            unrecorded.messages.iter().map(|message| message.id).collect(),
        ))
    }

    #[test]
    fn ignores_messages_the_server_has() {
        let story = Story::new("Hello", &["one ", "two"]);
        let whole = story.after(story.events.len());
        assert_eq!(find_ids(&whole, Some(&whole)), None);
        assert_eq!(
            find_ids(&story.after(5), Some(&whole)),
            None,
            "there is more of it by now"
        );
        assert_eq!(
            find_ids(&story.after(3), None).map(|(_, unrecorded)| unrecorded.len()),
            Some(1),
            "an answer without a word is nothing"
        );
    }

    #[test]
    fn finds_messages_only_the_page_has() {
        let story = Story::new("Hello", &["one ", "two"]);
        let whole = story.after(story.events.len());
        let all = ids(&whole, 0);
        assert_eq!(find_ids(&whole, None), Some((None, all.clone())));
        // The server has the question, and then the beginning of the answer.
        let (question, answer) = (all[0], all[1]);
        assert_eq!(
            find_ids(&whole, Some(&story.after(2))),
            Some((Some(question), vec![answer]))
        );
        assert_eq!(
            find_ids(&whole, Some(&story.after(4))),
            Some((Some(answer), vec![answer]))
        );
    }

    #[test]
    fn ignores_messages_older_than_the_snapshot() {
        let story = Story::new("Hello", &["one ", "two"]);
        let whole = story.after(story.events.len());
        let mut page = whole.clone();
        page.messages.remove(0);
        for message in &mut page.messages {
            message.created_at.0 += 1;
        }
        let mut held = whole;
        held.messages[1].created_at.0 += 1;
        assert_eq!(find_ids(&held, Some(&page)), None);
    }
}
