//! The order of roles, which the templates of some models demand.

use fuzzing::properties;
use proptest::{collection::vec, prelude::*};

use super::*;
use parlor_model::roles::order_violation;
use parlor_protocol::{Attachment, AttachmentId, FinishReason, RunStatus};

fn message(body: MessageBody) -> Message {
    Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(0),
        body,
    }
}

fn question(text: &str, files: Vec<Attachment>) -> Message {
    message(MessageBody::User {
        text: text.into(),
        files,
        interaction: Interaction::TextInput,
    })
}

fn image() -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "a.png".into(),
        media_type: "image/png".into(),
        bytes: 1,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    }
}

fn answer(status: RunStatus, nodes: Vec<Vec<Part>>) -> AssistantMessage {
    AssistantMessage {
        status,
        nodes: nodes.into_iter().map(|parts| Node { parts }).collect(),
        ..AssistantMessage::new("x/m")
    }
}

/// Returns the messages after the prompt for a question after this turn.
fn shown_after(answer: AssistantMessage) -> Vec<ModelMessage> {
    let history = [
        question("Why?", Vec::new()),
        message(MessageBody::Assistant(answer)),
        question("And?", Vec::new()),
    ];
    let mut shown = conversation(&history, &AssistantMessage::new("x/m"), &page_payloads()).messages();
    shown.remove(0);
    shown
}

#[test]
fn an_answer_without_words_says_so() {
    let called = || vec![call("a", Some("x"), ToolStatus::Complete)];
    let denied = || vec![call("a", Some("No."), ToolStatus::Denied)];
    let answered = |status, nodes, reason| AssistantMessage {
        finish_reason: reason,
        ..answer(status, nodes)
    };
    for (answer, said) in [
        (
            answered(RunStatus::Stopped, vec![], None),
            "(The person stopped this answer here.)",
        ),
        (
            answered(RunStatus::Stopped, vec![vec![thinking("Hm.")]], None),
            "(The person stopped this answer here.)",
        ),
        (
            answered(RunStatus::Failed, vec![], None),
            "(This answer failed here.)",
        ),
        (
            answered(RunStatus::Failed, vec![called()], None),
            "(This answer failed here.)",
        ),
        (
            answered(RunStatus::Failed, vec![called(), vec![text(" ")]], None),
            "(This answer failed here.)",
        ),
        (
            answered(RunStatus::Failed, vec![], Some(FinishReason::ContentFilter)),
            "(This answer was withheld by a content filter.)",
        ),
        (
            answered(RunStatus::Interrupted, vec![called()], None),
            "(This answer was broken off here.)",
        ),
        (
            answered(RunStatus::Complete, vec![called()], Some(FinishReason::Steered)),
            "(This answer ended here for the person's next message.)",
        ),
        (
            answered(RunStatus::Waiting, vec![denied()], None),
            "(This answer ended here.)",
        ),
        (
            AssistantMessage::damaged(MessageId::new(), RunStatus::Complete),
            "(This answer is damaged and can't be read.)",
        ),
    ] {
        let shown = shown_after(answer.clone());
        let [.., before_last, last] = shown.as_slice() else {
            panic!("{shown:?}")
        };
        assert_eq!(before_last, &ModelMessage::assistant(said), "{answer:?}");
        assert_eq!(last, &ModelMessage::User("And?".into()));
        assert_eq!(order_violation(&shown), None, "{answer:?}");
    }
    let whole = shown_after(answer(RunStatus::Complete, vec![called(), vec![text("So.")]]));
    assert_eq!(
        whole[3..],
        [ModelMessage::assistant("So."), ModelMessage::User("And?".into())]
    );
    // What was said stays as it is.
    let part = shown_after(answer(RunStatus::Stopped, vec![vec![text("Beca")]]));
    assert_eq!(part[1], ModelMessage::assistant("Beca"));
}

#[test]
fn cut_thinking_after_a_tool_keeps_the_order() {
    let shown = shown_nodes(&[
        &[call("a", Some("x"), ToolStatus::Complete)],
        &[thinking("So it")],
    ]);
    assert_eq!(order_violation(&shown), None, "{shown:?}");
    let Some(ModelMessage::User(thoughts)) = shown.last() else {
        panic!("{shown:?}")
    };
    assert!(thoughts.ends_with("So it)"), "{thoughts}");
}

#[test]
fn questions_without_an_answer_are_joined() {
    let history = [
        question("One", vec![image()]),
        message(MessageBody::Damaged),
        question("Two", Vec::new()),
    ];
    let shown = conversation(&history, &AssistantMessage::new("x/m"), &page_payloads()).messages();
    let expected = format!("One\n\n{DAMAGED_MESSAGE}\n\nTwo");
    assert_eq!(shown[1], ModelMessage::User(expected));
    assert!(matches!(shown[2..], [ModelMessage::File(_)]), "{shown:?}");
}

fn any_part() -> impl Strategy<Value = Part> {
    let output = prop::option::of(Just("x"));
    let status = prop::sample::select(vec![
        ToolStatus::Running,
        ToolStatus::Waiting,
        ToolStatus::Complete,
        ToolStatus::Failed,
        ToolStatus::Denied,
        ToolStatus::Stopped,
        ToolStatus::Unknown,
    ]);
    prop_oneof![
        prop::sample::select(vec!["", " ", "So."]).prop_map(text),
        prop::sample::select(vec!["", "Hm."]).prop_map(thinking),
        (output, status, any::<bool>()).prop_map(|(output, status, has_image)| {
            let mut part = call("a", output, status);
            if let Part::ToolCall(call) = &mut part {
                call.attachments.extend(has_image.then(image));
            }
            part
        }),
        Just(made()),
        Just(Part::File { file: image() }),
    ]
}

fn any_answer() -> impl Strategy<Value = AssistantMessage> {
    let status = prop::sample::select(vec![
        RunStatus::Running,
        RunStatus::Waiting,
        RunStatus::Complete,
        RunStatus::Stopped,
        RunStatus::Failed,
        RunStatus::Interrupted,
    ]);
    (status, vec(vec(any_part(), 0..4), 0..4)).prop_map(|(status, nodes)| answer(status, nodes))
}

fn any_message() -> impl Strategy<Value = Message> {
    let question = (prop::sample::select(vec!["", "Why?"]), any::<bool>())
        .prop_map(|(text, has_file)| question(text, has_file.then(image).into_iter().collect()));
    prop_oneof![
        2 => question,
        3 => any_answer().prop_map(|answer| message(MessageBody::Assistant(answer))),
        1 => Just(message(MessageBody::Damaged)),
    ]
}

properties! {
    256;

    #[test]
    fn any_conversation_has_alternating_roles(
        messages in vec(any_message(), 0..8),
        current in any_answer(),
        tokens in 0..400_usize,
        has_metadata in any::<bool>(),
    ) {
        let history: Vec<Message> = messages.into_iter().chain([question("And?", Vec::new())]).collect();
        let clock = MetadataClock::new(&parlor_base::settings::HistorySettings::default(), Timestamp(3));
        let clock = clock.filter(|_| has_metadata);
        let whole = conversation_at(&history, &current, &page_payloads(), clock.as_ref());
        let room = fit::Room { tokens, max_output_bytes: 500 };
        let (fitted, _) = fit::fit(whole.clone(), room).into_parts();
        for conversation in [whole, fitted] {
            let messages = conversation.messages();
            prop_assert_eq!(order_violation(&messages), None, "{:?}", messages);
        }
    }
}
