//! Fits a conversation into the window of a model. A pure function: conversation and room in,
//! conversation out.
//!
//! Tool outputs are shortened first, the oldest before the others and those of the present turn
//! last. In between, the oldest turns are omitted; last of all, the note that replaces earlier
//! turns becomes a short one. The instructions and the present turn always stay. The order never
//! changes, and each call keeps its output: only whole turns are omitted.

use super::{ModelConversation, tokens};
use parlor_model::ModelMessage;

/// Replaces omitted turns.
const OMITTED_NOTE: &str =
    "(The beginning of this conversation is left out: it is too long for you. Say so if it seems to matter.)";

/// Replaces the middle of an output.
const SHORTENED_NOTE: &str = "\n[… shortened: the whole did not fit …]\n";

/// The room for a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The room in tokens, as [`tokens`] estimates them.
    pub tokens: usize,
    /// The size in bytes to which an output is shortened.
    pub max_output_bytes: usize,
}

/// A fitted conversation.
#[derive(Debug)]
pub struct Fitted {
    pub conversation: ModelConversation,
    /// The number of oldest turns that are omitted.
    pub omitted_turns: usize,
    /// The estimated tokens of the result.
    tokens: usize,
}

impl Fitted {
    /// Returns the conversation and its estimated tokens.
    pub fn into_parts(self) -> (ModelConversation, usize) {
        (self.conversation, self.tokens)
    }
}

/// Fits a conversation into the room. One that can't fit is made as small as possible.
pub fn fit(mut conversation: ModelConversation, room: Room) -> Fitted {
    let mut spent = conversation.tokens();
    for turn in &mut conversation.turns {
        shorten_outputs(&mut turn.messages, &mut spent, room);
    }
    let mut left_out = 0;
    if spent > room.tokens && !conversation.turns.is_empty() {
        let before = conversation.earlier_tokens();
        let note = match conversation.earlier_note.take() {
            Some(earlier) => format!("{earlier}\n\n{OMITTED_NOTE}"),
            None => OMITTED_NOTE.to_owned(),
        };
        conversation.earlier_note = Some(note);
        spent = spent - before + conversation.earlier_tokens();
        for turn in &conversation.turns {
            if spent <= room.tokens {
                break;
            }
            spent -= turn.tokens();
            left_out += 1;
        }
        conversation.turns.drain(..left_out);
    }
    shorten_outputs(&mut conversation.current_turn, &mut spent, room);
    if spent > room.tokens
        && conversation
            .earlier_note
            .as_ref()
            .is_some_and(|earlier| earlier.len() > OMITTED_NOTE.len())
    {
        conversation.earlier_note = Some(OMITTED_NOTE.to_owned());
    }
    Fitted {
        // Less than the tokens spent if the last metadata were in an omitted turn.
        tokens: conversation.tokens(),
        conversation,
        omitted_turns: left_out,
    }
}

/// Shortens outputs, oldest first, until the conversation fits.
fn shorten_outputs(messages: &mut [ModelMessage], spent: &mut usize, room: Room) {
    for message in messages {
        if *spent <= room.tokens {
            return;
        }
        if let ModelMessage::Tool { output, .. } = message
            && let Some(short) = shorten_middle(output, room.max_output_bytes)
        {
            *spent = *spent - tokens::estimate_text(output) + tokens::estimate_text(&short);
            *output = short;
        }
    }
}

/// Returns the beginning and the end of a text that is longer than `bytes`, if that saves tokens.
fn shorten_middle(text: &str, bytes: usize) -> Option<String> {
    let begin = text.floor_char_boundary(bytes * 2 / 3);
    let end = text.ceil_char_boundary(text.len().saturating_sub(bytes / 3));
    let short = (begin < end).then(|| [&text[..begin], SHORTENED_NOTE, &text[end..]].concat())?;
    // A text that was shortened before yields nothing more.
    (tokens::estimate_text(&short) < tokens::estimate_text(text)).then_some(short)
}

#[cfg(test)]
mod tests;
