//! Fits a conversation into the window of a model. A pure function: conversation and room in,
//! conversation out.
//!
//! Tool outputs are shortened first, the oldest before the others and those of the present turn
//! last of all. In between, the oldest turns are omitted, and if that is not enough, the note that
//! replaces earlier turns. The instructions and the present turn always stay. The order never
//! changes, and each call keeps its output: only whole turns are omitted.

use super::{ModelConversation, tokens};
use crate::model::ModelMessage;

/// Replaces omitted turns.
const OMITTED_NOTE: &str =
    "(The beginning of this conversation is left out: it is too long for you. Say so if it seems to matter.)";

/// Replaces the middle of an output.
const SHORTENED_NOTE: &str = "\n[… shortened: the whole did not fit …]\n";

/// The room for a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// In tokens, as [`tokens`] estimates them.
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
mod tests {
    use fuzzing::properties;
    use proptest::{collection::vec, prelude::*};

    use super::{
        super::{Turn, number_calls, tests::assert_in_order},
        *,
    };
    use crate::{model::ToolUse, protocol::MessageId};

    const SHORT: usize = 60;

    /// A question with its tool calls and answer; `outputs` are the lengths of the tools' outputs.
    fn turn(number: usize, question: usize, outputs: &[usize]) -> Vec<ModelMessage> {
        let mut messages = vec![ModelMessage::User(format!("q{number} {}", "w ".repeat(question)))];
        for (index, length) in outputs.iter().enumerate() {
            let id = format!("{number}-{index}");
            messages.push(ModelMessage::Assistant {
                text: String::new(),
                thinking: None,
                tool_calls: vec![ToolUse {
                    id: id.clone(),
                    name: "look".into(),
                    arguments: "{}".into(),
                    opaque: Vec::new(),
                }],
                opaque: Vec::new(),
            });
            messages.push(ModelMessage::Tool {
                tool_use_id: id,
                output: "é out ".repeat(*length),
            });
        }
        messages.push(ModelMessage::assistant(format!("a{number}")));
        messages
    }

    fn conversation(turns: &[(usize, Vec<usize>)]) -> ModelConversation {
        let mut turns: Vec<Vec<ModelMessage>> = turns
            .iter()
            .enumerate()
            .map(|(number, (question, outputs))| turn(number, *question, outputs))
            .collect();
        let latest = turns.pop().unwrap();
        ModelConversation {
            prompt: "Be brief.".into(),
            earlier_note: None,
            turns: turns
                .into_iter()
                .map(|messages| Turn {
                    last_message_id: MessageId::new(),
                    messages,
                })
                .collect(),
            current_turn: latest,
        }
    }

    fn room(tokens: usize) -> Room {
        Room {
            tokens,
            max_output_bytes: SHORT,
        }
    }

    /// Returns a message without the parts that may be shortened or prepended.
    fn essence(message: &ModelMessage) -> String {
        match message {
            ModelMessage::Tool { tool_use_id, .. } => tool_use_id.clone(),
            ModelMessage::User(text) => text.rsplit("\n\n").next().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn keeps_a_conversation_that_fits() {
        let whole = conversation(&[(3, vec![100]), (3, vec![100])]);
        let fitted = fit(whole.clone(), room(whole.tokens()));
        assert_eq!((fitted.conversation, fitted.omitted_turns), (whole, 0));
    }

    #[test]
    fn shortens_outputs_then_turns_then_current_outputs() {
        let whole = conversation(&[(3, vec![100, 100]), (3, vec![]), (3, vec![100])]);
        let outputs = |fitted: &Fitted| -> Vec<usize> {
            let messages = fitted.conversation.clone().messages();
            messages
                .iter()
                .filter_map(|message| match message {
                    ModelMessage::Tool { output, .. } => Some(output.len()),
                    _ => None,
                })
                .collect()
        };
        let all = whole.tokens();
        let one = fit(whole.clone(), room(all - 1));
        assert_eq!(
            (outputs(&one)[1..].to_vec(), one.omitted_turns),
            (vec![700, 700], 0)
        );
        assert!(outputs(&one)[0] < 150, "{:?}", outputs(&one));
        let less = fit(whole.clone(), room(all - 400));
        assert_eq!((outputs(&less), less.omitted_turns), (vec![700], 1));
        assert!(less.conversation.earlier_note.is_some());
        let least = fit(whole, room(1));
        assert_eq!(least.omitted_turns, 2);
        assert!(outputs(&least)[0] < 150);
    }

    properties! {
        256;

        #[test]
        fn fits_or_shrinks_to_the_required_rest(
            turns in vec((0_usize..40, vec(0_usize..80, 0..4)), 1..8),
            earlier in proptest::option::of(0_usize..3000),
            tokens in 1_usize..3000,
        ) {
            let whole = ModelConversation {
                earlier_note: earlier.map(|length| "é ".repeat(length)),
                ..conversation(&turns)
            };
            let fitted = fit(whole.clone(), room(tokens));
            let conversation = &fitted.conversation;
            prop_assert_eq!(fitted.tokens, conversation.tokens());

            let is_smallest = conversation.turns.is_empty()
                && conversation.earlier_note.as_deref().is_none_or(|earlier| earlier.len() <= OMITTED_NOTE.len())
                && conversation.current_turn.iter().all(|message| match message {
                    ModelMessage::Tool { output, .. } => shorten_middle(output, SHORT).is_none(),
                    _ => true,
                });
            prop_assert!(conversation.tokens() <= tokens || is_smallest);
            let sent = conversation.clone().messages();
            prop_assert!(sent.iter().map(tokens::estimate_message).sum::<usize>() <= conversation.tokens());

            // The instructions and the present turn remain, and the remaining turns are the last
            // ones.
            prop_assert_eq!(&conversation.prompt, &whole.prompt);
            prop_assert_eq!(conversation.turns.len() + fitted.omitted_turns, whole.turns.len());
            let kept = whole.turns[fitted.omitted_turns..].iter().flat_map(|turn| &turn.messages);
            let mut expected: Vec<ModelMessage> = kept.chain(&whole.current_turn).cloned().collect();
            number_calls(&mut expected);
            let expected: Vec<String> = expected.iter().map(essence).collect();
            let messages = fitted.conversation.messages();
            let found: Vec<String> = messages[1..].iter().map(essence).collect();
            prop_assert_eq!(found, expected);
            assert_in_order(&messages);
        }
    }
}
