use super::*;
use parlor_protocol::{Attachment, AttachmentId, MessageId, Node, Part};

/// 2026-11-21 12:00 UTC.
const NOON: i64 = 1_795_262_400_000;

fn said(text: &str, at: i64) -> Message {
    Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(at),
        body: MessageBody::User {
            text: text.into(),
            files: Vec::new(),
            interaction: Default::default(),
        },
    }
}

fn called(tool: &str, label: &str, status: ToolStatus) -> Part {
    Part::ToolCall(Box::new(ToolCall {
        label: label.into(),
        ..ToolCall::for_test(tool, status)
    }))
}

fn clock(zone: Option<&str>, now: i64) -> MetadataClock {
    let settings = HistorySettings {
        metadata: settings::MetadataMode::Always,
        timezone: zone.map(Into::into),
        ..HistorySettings::default()
    };
    MetadataClock::new(&settings, Timestamp(now)).unwrap()
}

fn rendered(clock: &MetadataClock, message: &Message, before: Option<Timestamp>) -> String {
    clock.render(message, before).expect("metadata")
}

#[test]
fn sparse_metadata_appear_only_when_informative() {
    let clock = MetadataClock::new(&HistorySettings::default(), Timestamp(NOON)).unwrap();
    let answer = |parts: Vec<Part>| {
        let mut answer = AssistantMessage::new("x/m");
        answer.nodes.push(Node { parts });
        Message {
            body: MessageBody::Assistant(answer),
            ..said("", NOON)
        }
    };
    let pressed = Message {
        body: MessageBody::User {
            text: "Yes".into(),
            files: Vec::new(),
            interaction: Interaction::ValueSelected,
        },
        ..said("", NOON)
    };
    let plain = answer(vec![Part::Text { text: "Hello".into() }]);
    let searched = answer(vec![called("web_search", "Searched", ToolStatus::Complete)]);
    let (soon, yesterday) = (Timestamp(NOON - MINUTE_MS), Timestamp(NOON - DAY_MS));
    for (what, message, before, is_told) in [
        ("the first", &said("Hi", NOON), None, false),
        ("the next", &said("Hi", NOON), Some(soon), false),
        ("one of the next day", &said("Hi", NOON), Some(yesterday), true),
        ("an answer", &plain, Some(soon), false),
        ("an answer of the next day", &plain, Some(yesterday), true),
        ("an answer made with tools", &searched, Some(soon), true),
        ("a button", &pressed, Some(soon), true),
    ] {
        assert_eq!(clock.render(message, before).is_some(), is_told, "{what}");
    }
}

#[test]
fn renders_time_and_preceding_pause() {
    let before = Some(Timestamp(NOON - 2 * DAY_MS));
    assert_eq!(
        rendered(
            &clock(Some("Europe/Copenhagen"), NOON + 3 * HOUR_MS + 5 * MINUTE_MS),
            &said("Hi", NOON),
            before
        ),
        "<!-- METADATA: {\"timestamp\":\"2026-11-21 13:00 CET\",\"relative_time\":\"3 hours ago\",\
         \"session_gap\":\"2 days\"} -->\n"
    );
    let soon = Some(Timestamp(NOON - 4 * HOUR_MS));
    assert_eq!(
        rendered(&clock(None, NOON), &said("Hi", NOON), soon),
        "<!-- METADATA: {\"timestamp\":\"2026-11-21 12:00 UTC\",\"relative_time\":\"less than an hour ago\"} -->\n"
    );
}

#[test]
fn metadata_are_stable_within_an_hour() {
    let message = said("Hi", NOON - 90 * MINUTE_MS);
    let at = |now| rendered(&clock(None, now), &message, None);
    assert_eq!(at(NOON), at(NOON + 59 * MINUTE_MS));
    assert_ne!(at(NOON), at(NOON + 60 * MINUTE_MS));
}

#[test]
fn renders_tools_of_an_answer() {
    let mut answer = AssistantMessage::new("x/m");
    answer.nodes.push(Node {
        parts: vec![
            called("web_search", "Searched", ToolStatus::Complete),
            called("web_search", "Searched", ToolStatus::Complete),
            called("x-->y", "Fetched", ToolStatus::Failed),
        ],
    });
    let message = Message {
        body: MessageBody::Assistant(answer),
        ..said("", NOON)
    };
    let told = rendered(&clock(None, NOON), &message, None);
    assert!(
        told.ends_with(
            "\"tools_used\":[\"web_search\",\"x--\\u003ey\"],\
             \"tool_summary\":\"searched 2 times, failed: fetched\"} -->\n"
        ),
        "{told}"
    );
    assert_eq!(told.matches("-->").count(), 1);
}

#[test]
fn counts_generated_images() {
    let made = |images: usize| {
        let file = Attachment {
            id: AttachmentId::new(),
            name: "Fox.png".into(),
            media_type: "image/png".into(),
            bytes: 7,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        };
        let mut answer = AssistantMessage::new("x/m");
        let mut call = called("generate_image", "Generated image", ToolStatus::Complete);
        if let Part::ToolCall(call) = &mut call {
            call.attachments = vec![file; images];
        }
        let failed = called("generate_image", "Generating image", ToolStatus::Failed);
        answer.nodes.push(Node {
            parts: vec![call, failed],
        });
        tool_metadata(&answer).1.unwrap()
    };
    assert_eq!(made(1), "failed: generating image, generated 1 image");
    assert_eq!(made(3), "failed: generating image, generated 3 images");
}

#[test]
fn renders_tool_files_of_an_answer() {
    let file = |name: &str| Attachment {
        id: AttachmentId::new(),
        name: name.into(),
        media_type: "image/png".into(),
        bytes: 7,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    };
    let give = |names: &[&str]| {
        Part::ToolCall(Box::new(ToolCall {
            attachments: names.iter().map(|name| file(name)).collect(),
            ..ToolCall::for_test("draw", ToolStatus::Complete)
        }))
    };
    let mut answer = AssistantMessage::new("x/m");
    answer.nodes.push(Node {
        parts: vec![give(&["a.png", "b-->.png"]), give(&["c.png"])],
    });
    let message = Message {
        body: MessageBody::Assistant(answer),
        ..said("", NOON)
    };
    let told = rendered(&clock(None, NOON), &message, None);
    let json = told
        .strip_prefix("<!-- METADATA: ")
        .and_then(|told| told.strip_suffix(" -->\n"));
    let told: serde_json::Value = serde_json::from_str(json.unwrap()).unwrap();
    let id = |index: usize| format!("{}:{index}", message.id);
    assert_eq!(
        told["files"],
        serde_json::json!([
            { "name": "a.png", "type": "image/png", "id": id(0) },
            { "name": "b-->.png", "type": "image/png", "id": id(1) },
            { "name": "c.png", "type": "image/png", "id": id(2) },
        ])
    );
}

#[test]
fn formats_spans_in_their_largest_unit() {
    for (length, told) in [
        (5 * HOUR_MS, "5 hours"),
        (HOUR_MS, "1 hour"),
        (26 * HOUR_MS, "1 day"),
        (15 * DAY_MS, "2 weeks"),
        (400 * DAY_MS, "1 year"),
    ] {
        assert_eq!(format_span(length), told);
    }
}
