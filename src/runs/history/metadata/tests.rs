use super::*;
use crate::protocol::{Attachment, AttachmentId, MessageId, Node, Part};

/// 2026-11-21 12:00 UTC.
const NOON: i64 = 1_795_262_400_000;

fn said(text: &str, at: i64) -> Message {
    Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(at),
        body: MessageBody::User {
            text: text.into(),
            interaction: Default::default(),
        },
    }
}

fn called(tool: &str, label: &str, status: ToolStatus) -> Part {
    Part::ToolCall(Box::new(ToolCall {
        label: label.into(),
        ..ToolCall::of(tool, status)
    }))
}

fn clock(zone: Option<&str>, now: i64) -> Clock {
    let settings = History {
        metadata: settings::Metadata::Always,
        timezone: zone.map(Into::into),
        ..History::default()
    };
    Clock::new(&settings, Timestamp(now)).unwrap()
}

fn told(clock: &Clock, message: &Message, before: Option<Timestamp>) -> String {
    clock.metadata(message, before).expect("metadata")
}

#[test]
fn sparing_metadata_stand_where_they_say_something() {
    let clock = Clock::new(&History::default(), Timestamp(NOON)).unwrap();
    let answer = |parts: Vec<Part>| {
        let mut answer = AssistantMessage::started("x/m");
        answer.nodes.push(Node { parts });
        Message {
            body: MessageBody::Assistant(answer),
            ..said("", NOON)
        }
    };
    let pressed = Message {
        body: MessageBody::User {
            text: "Yes".into(),
            interaction: Interaction::ValueSelected,
        },
        ..said("", NOON)
    };
    let plain = answer(vec![Part::Text { text: "Hello".into() }]);
    let searched = answer(vec![called("web_search", "Searched", ToolStatus::Complete)]);
    let (soon, yesterday) = (Timestamp(NOON - MINUTE), Timestamp(NOON - DAY));
    for (what, message, before, is_told) in [
        ("the first", &said("Hi", NOON), None, false),
        ("the next", &said("Hi", NOON), Some(soon), false),
        ("one of the next day", &said("Hi", NOON), Some(yesterday), true),
        ("an answer", &plain, Some(soon), false),
        ("an answer of the next day", &plain, Some(yesterday), true),
        ("an answer made with tools", &searched, Some(soon), true),
        ("a button", &pressed, Some(soon), true),
    ] {
        assert_eq!(clock.metadata(message, before).is_some(), is_told, "{what}");
    }
}

#[test]
fn a_message_is_told_with_its_time_and_with_the_pause_before_it() {
    let before = Some(Timestamp(NOON - 2 * DAY));
    assert_eq!(
        told(
            &clock(Some("Europe/Copenhagen"), NOON + 3 * HOUR + 5 * MINUTE),
            &said("Hi", NOON),
            before
        ),
        "<!-- METADATA: {\"timestamp\":\"2026-11-21 13:00 CET\",\"relative_time\":\"3 hours ago\",\
         \"session_gap\":\"2 days\"} -->\n"
    );
    let soon = Some(Timestamp(NOON - 4 * HOUR));
    assert_eq!(
        told(&clock(None, NOON), &said("Hi", NOON), soon),
        "<!-- METADATA: {\"timestamp\":\"2026-11-21 12:00 UTC\",\"relative_time\":\"less than an hour ago\"} -->\n"
    );
}

#[test]
fn within_an_hour_of_the_clock_nothing_that_was_said_changes() {
    let message = said("Hi", NOON - 90 * MINUTE);
    let at = |now| told(&clock(None, now), &message, None);
    assert_eq!(at(NOON), at(NOON + 59 * MINUTE));
    assert_ne!(at(NOON), at(NOON + 60 * MINUTE));
}

#[test]
fn an_answer_is_told_with_its_tools() {
    let mut answer = AssistantMessage::started("x/m");
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
    let told = told(&clock(None, NOON), &message, None);
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
fn an_answer_is_told_with_the_files_that_its_tools_gave() {
    let file = |name: &str| Attachment {
        id: AttachmentId::new(),
        name: name.into(),
        media_type: "image/png".into(),
        bytes: 7,
    };
    let give = |names: &[&str]| {
        Part::ToolCall(Box::new(ToolCall {
            attachments: names.iter().map(|name| file(name)).collect(),
            ..ToolCall::of("draw", ToolStatus::Complete)
        }))
    };
    let mut answer = AssistantMessage::started("x/m");
    answer.nodes.push(Node {
        parts: vec![give(&["a.png", "b-->.png"]), give(&["c.png"])],
    });
    let message = Message {
        body: MessageBody::Assistant(answer),
        ..said("", NOON)
    };
    let told = told(&clock(None, NOON), &message, None);
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
fn spans_are_told_in_their_largest_unit() {
    for (length, told) in [
        (5 * HOUR, "5 hours"),
        (HOUR, "1 hour"),
        (26 * HOUR, "1 day"),
        (15 * DAY, "2 weeks"),
        (400 * DAY, "1 year"),
    ] {
        assert_eq!(span(length), told);
    }
}
