use fuzzing::properties;
use proptest::prelude::*;

use super::*;
use crate::{ModelFile, ToolUse};
use parlor_protocol::AttachmentId;

fn user(text: &str) -> ModelMessage {
    ModelMessage::User(text.into())
}

fn calling(id: &str) -> [ModelMessage; 2] {
    let call = ToolUse {
        id: id.into(),
        name: "look".into(),
        arguments: "{}".into(),
        provider_data: Vec::new(),
    };
    let asked = ModelMessage::Assistant {
        text: String::new(),
        thinking: None,
        tool_calls: vec![call],
        provider_data: Vec::new(),
    };
    let output = ModelMessage::Tool {
        tool_use_id: id.into(),
        output: "x".into(),
    };
    [asked, output]
}

fn file() -> ModelMessage {
    ModelMessage::File(ModelFile {
        id: AttachmentId::new(),
        name: "a.png".into(),
        media_type: "image/png".into(),
        bytes: 1,
        text_bytes: None,
        problem: None,
        tokens: 0,
        base64: "".into(),
    })
}

#[test]
fn mends_every_order() {
    let [asked, output] = calling("1");
    let [asked_again, output_again] = calling("2");
    let image = file();
    let said = ModelMessage::assistant;
    for (messages, expected) in [
        (vec![user("a"), user("b")], vec![user("a\n\nb")]),
        (
            vec![user("a"), image.clone(), user("b")],
            vec![user("a\n\nb"), image.clone()],
        ),
        (vec![user("a"), said(" "), user("b")], vec![user("a\n\nb")]),
        (
            vec![user("a"), asked.clone(), output.clone(), user("b")],
            vec![
                user("a"),
                asked.clone(),
                output.clone(),
                said(MISSING_ANSWER),
                user("b"),
            ],
        ),
        (
            vec![user("a"), asked.clone(), output.clone(), image.clone(), user("b")],
            vec![
                user("a"),
                asked.clone(),
                output.clone(),
                image.clone(),
                said(MISSING_ANSWER),
                user("b"),
            ],
        ),
        (
            vec![user("a"), said("b"), said("c"), user("d")],
            vec![user("a"), said("b\n\nc"), user("d")],
        ),
        (
            vec![said("a"), user("b")],
            vec![user(MISSING_QUESTION), said("a"), user("b")],
        ),
    ] {
        let mut ordered = messages.clone();
        alternate_roles(&mut ordered);
        assert_eq!(ordered, expected, "{messages:?}");
    }
    let mut ordered = vec![
        ModelMessage::System("Be brief.".into()),
        user("a"),
        asked,
        output,
        image.clone(),
        asked_again,
        output_again,
        said("b"),
        user("c"),
        image,
    ];
    let before = ordered.clone();
    alternate_roles(&mut ordered);
    assert_eq!(ordered, before);
    let separated = separate_tool_files(&ordered).unwrap();
    assert_eq!(separated.len(), before.len() + 2);
    assert_eq!(separated[4..6], [said(IMAGES_FOLLOW), user(IMAGES_OF_TOOLS)]);
    assert_eq!(order_violation(&separated), None);
    assert_eq!(separate_tool_files(&separated), None);
}

properties! {
    256;

    #[test]
    fn any_messages_get_alternating_roles(kinds in prop::collection::vec(0..6_u8, 0..20)) {
        let mut messages = vec![ModelMessage::System("Be brief.".into())];
        let mut is_files_place = false;
        for (index, kind) in kinds.into_iter().enumerate() {
            match kind {
                0 => messages.push(user("a")),
                1 => messages.push(ModelMessage::assistant("b")),
                2 => messages.push(ModelMessage::assistant("")),
                3 if is_files_place => messages.push(file()),
                3 | 4 => messages.extend(calling(&index.to_string())),
                _ => messages.push(user("")),
            }
            is_files_place = matches!(
                messages.last(),
                Some(ModelMessage::User(_) | ModelMessage::Tool { .. } | ModelMessage::File(_))
            );
        }
        messages.push(user("c"));
        alternate_roles(&mut messages);
        prop_assert_eq!(order_violation(&messages), None);
        let again = messages.clone();
        alternate_roles(&mut messages);
        prop_assert_eq!(messages, again);
    }
}
