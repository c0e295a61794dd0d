//! Fitting a conversation to what a model can take. A pure function: conversation and room in, conversation out.
//!
//! The outputs of tools are shortened first, the oldest before the others, those of the present turn last of all; in between, the
//! oldest turns are left out, and when all else is not enough, what stands for those before them. The instructions and the present
//! turn always stay, and so does the order of all, and a call has its output behind it: what is left out is whole turns.

use super::{Conversation, tokens};
use crate::model::ModelMessage;

/// Said in place of turns that are left out.
const LEFT_OUT: &str =
    "(The beginning of this conversation is left out: it is too long for you. Say so if it seems to matter.)";

/// Said in place of the middle of an output.
const SHORTENED: &str = "\n[… shortened: the whole did not fit …]\n";

/// What there is room for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// As [`tokens`] estimates them.
    pub tokens: usize,
    /// To how many bytes an output is shortened.
    pub short: usize,
}

/// What became of a conversation.
#[derive(Debug)]
pub struct Fitted {
    pub conversation: Conversation,
    /// How many of the oldest turns are left out.
    pub left_out: usize,
    /// What it comes to now.
    tokens: usize,
}

impl Fitted {
    /// The conversation, and what it comes to.
    pub fn counted(self) -> (Conversation, usize) {
        (self.conversation, self.tokens)
    }
}

/// Makes a conversation fit. What can't be made to fit comes out as small as it gets.
pub fn fit(mut conversation: Conversation, room: Room) -> Fitted {
    let mut spent = conversation.tokens();
    for turn in &mut conversation.turns {
        shorten(&mut turn.messages, &mut spent, room);
    }
    let mut left_out = 0;
    if spent > room.tokens && !conversation.turns.is_empty() {
        let before = conversation.earlier_tokens();
        let note = match conversation.earlier.take() {
            Some(earlier) => format!("{earlier}\n\n{LEFT_OUT}"),
            None => LEFT_OUT.to_owned(),
        };
        conversation.earlier = Some(note);
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
    shorten(&mut conversation.latest, &mut spent, room);
    if spent > room.tokens
        && conversation
            .earlier
            .as_ref()
            .is_some_and(|earlier| earlier.len() > LEFT_OUT.len())
    {
        conversation.earlier = Some(LEFT_OUT.to_owned());
    }
    Fitted {
        // Less than was spent if the last metadata went with their turn.
        tokens: conversation.tokens(),
        conversation,
        left_out,
    }
}

/// Shortens outputs, oldest first, until all is within the room.
fn shorten(messages: &mut [ModelMessage], spent: &mut usize, room: Room) {
    for message in messages {
        if *spent <= room.tokens {
            return;
        }
        if let ModelMessage::Tool { output, .. } = message
            && let Some(short) = shortened(output, room.short)
        {
            *spent = *spent - tokens::of_text(output) + tokens::of_text(&short);
            *output = short;
        }
    }
}

/// The beginning and the end of a text that is longer than this, if that is any shorter.
fn shortened(text: &str, bytes: usize) -> Option<String> {
    let begin = text.floor_char_boundary(bytes * 2 / 3);
    let end = text.ceil_char_boundary(text.len().saturating_sub(bytes / 3));
    let short = (begin < end).then(|| [&text[..begin], SHORTENED, &text[end..]].concat())?;
    // Of what was shortened before, nothing is left to be gained.
    (tokens::of_text(&short) < tokens::of_text(text)).then_some(short)
}

#[cfg(test)]
mod tests {
    use fuzzing::properties;
    use proptest::{collection::vec, prelude::*};

    use super::{
        super::{Turn, number_calls, tests::in_order},
        *,
    };
    use crate::{model::ToolUse, protocol::MessageId};

    const SHORT: usize = 60;

    /// A question, and what was done and said about it: tools, each with the length of its output.
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

    fn conversation(turns: &[(usize, Vec<usize>)]) -> Conversation {
        let mut turns: Vec<Vec<ModelMessage>> = turns
            .iter()
            .enumerate()
            .map(|(number, (question, outputs))| turn(number, *question, outputs))
            .collect();
        let latest = turns.pop().unwrap();
        Conversation {
            prompt: "Be brief.".into(),
            earlier: None,
            turns: turns
                .into_iter()
                .map(|messages| Turn {
                    reaches: MessageId::new(),
                    messages,
                })
                .collect(),
            latest,
        }
    }

    fn room(tokens: usize) -> Room {
        Room { tokens, short: SHORT }
    }

    /// A message without what may be shortened or put before it.
    fn essence(message: &ModelMessage) -> String {
        match message {
            ModelMessage::Tool { tool_use_id, .. } => tool_use_id.clone(),
            ModelMessage::User(text) => text.rsplit("\n\n").next().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let whole = conversation(&[(3, vec![100]), (3, vec![100])]);
        let fitted = fit(whole.clone(), room(whole.tokens()));
        assert_eq!((fitted.conversation, fitted.left_out), (whole, 0));
    }

    #[test]
    fn outputs_go_first_then_turns_then_outputs_of_the_present_turn() {
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
        assert_eq!((outputs(&one)[1..].to_vec(), one.left_out), (vec![700, 700], 0));
        assert!(outputs(&one)[0] < 150, "{:?}", outputs(&one));
        let less = fit(whole.clone(), room(all - 400));
        assert_eq!((outputs(&less), less.left_out), (vec![700], 1));
        assert!(less.conversation.earlier.is_some());
        let least = fit(whole, room(1));
        assert_eq!(least.left_out, 2);
        assert!(outputs(&least)[0] < 150);
    }

    properties! {
        256;

        #[test]
        fn it_fits_or_is_as_small_as_it_gets_and_keeps_what_must_stay(
            turns in vec((0_usize..40, vec(0_usize..80, 0..4)), 1..8),
            earlier in proptest::option::of(0_usize..3000),
            tokens in 1_usize..3000,
        ) {
            let whole = Conversation {
                earlier: earlier.map(|length| "é ".repeat(length)),
                ..conversation(&turns)
            };
            let fitted = fit(whole.clone(), room(tokens));
            let conversation = &fitted.conversation;
            prop_assert_eq!(fitted.tokens, conversation.tokens());

            let is_smallest = conversation.turns.is_empty()
                && conversation.earlier.as_deref().is_none_or(|earlier| earlier.len() <= LEFT_OUT.len())
                && conversation.latest.iter().all(|message| match message {
                    ModelMessage::Tool { output, .. } => shortened(output, SHORT).is_none(),
                    _ => true,
                });
            prop_assert!(conversation.tokens() <= tokens || is_smallest);
            let sent = conversation.clone().messages();
            prop_assert!(sent.iter().map(tokens::of_message).sum::<usize>() <= conversation.tokens());

            // The instructions and the present turn are there, and the turns that are left are the last ones.
            prop_assert_eq!(&conversation.prompt, &whole.prompt);
            prop_assert_eq!(conversation.turns.len() + fitted.left_out, whole.turns.len());
            let kept = whole.turns[fitted.left_out..].iter().flat_map(|turn| &turn.messages);
            let mut expected: Vec<ModelMessage> = kept.chain(&whole.latest).cloned().collect();
            number_calls(&mut expected);
            let expected: Vec<String> = expected.iter().map(essence).collect();
            let messages = fitted.conversation.messages();
            let found: Vec<String> = messages[1..].iter().map(essence).collect();
            prop_assert_eq!(found, expected);
            in_order(&messages);
        }
    }
}
