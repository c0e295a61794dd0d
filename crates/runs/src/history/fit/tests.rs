use fuzzing::properties;
use proptest::{collection::vec, prelude::*};

use super::{
    super::{Turn, number_calls, tests::assert_in_order},
    *,
};
use parlor_model::ToolUse;
use parlor_protocol::MessageId;

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
                provider_data: Vec::new(),
            }],
            provider_data: Vec::new(),
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
        continues_answer: false,
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
