use serde_json::{Value, json};

use super::{
    record::{RawAnswer, RawCall, RequestRecord, ResponseRecord},
    redaction::SentBefore,
    timeline::{TimelineEntry, push_timeline_event},
};
use parlor_base::secrets::Secrets;
use parlor_model::RequestPreview;
use parlor_protocol::{RunEvent, Timestamp};

const KEY: &str = "sk-0123456789-abcdef";

fn secrets() -> Secrets {
    Secrets::default().with_more([KEY, "p@ssw0rd", "env-pass-1"])
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn preview(messages: &[Value], tools: &[Value]) -> RequestPreview {
    let body = json!({ "model": "m", "stream": true, "messages": messages, "tools": tools });
    let Value::Object(body) = body else { unreachable!() };
    RequestPreview {
        url: "http://x/v1".into(),
        body,
        conversation_fields: &["model", "messages", "tools"],
        messages: messages.to_vec(),
        tools: tools.to_vec(),
        ..RequestPreview::default()
    }
}

#[test]
fn stores_only_new_messages() {
    let (secrets, mut known) = (secrets(), SentBefore::default());
    let mut messages = vec![message("system", "Be kind."), message("user", "Hi")];
    let tools = [json!({ "type": "function", "function": { "name": "look", "description": KEY } })];
    let first = RequestRecord::from_preview(preview(&messages, &tools), &mut known, &secrets, 10_000);
    assert_eq!((first.goes_on, &first.messages), (false, &messages));
    assert_eq!(first.parameters, *json!({ "stream": true }).as_object().unwrap());
    let kept = first.tools.expect("tools");
    assert!(kept[0].as_str().contains("look") && !kept[0].as_str().contains(KEY));

    messages.push(message("assistant", "Hello"));
    let next = RequestRecord::from_preview(preview(&messages, &tools), &mut known, &secrets, 10_000);
    assert_eq!(
        (next.goes_on, next.messages, next.tools),
        (true, messages[2..].to_vec(), None)
    );

    messages[1] = message("user", "Hey");
    let other = RequestRecord::from_preview(preview(&messages, &[]), &mut known, &secrets, 10_000);
    assert_eq!(
        (other.goes_on, other.messages, other.tools),
        (false, messages, Some(Vec::new()))
    );
}

#[test]
fn keeps_system_prompt_and_newest_messages() {
    let secrets = secrets();
    let mut messages = vec![message("system", "Be kind.")];
    messages.extend((0..100).map(|n| message("user", &format!("message {n} {}", "x".repeat(100)))));
    let tools =
        [json!({ "type": "function", "function": { "name": "look", "description": "x".repeat(5000) } })];
    let kept = RequestRecord::from_preview(
        preview(&messages, &tools),
        &mut SentBefore::default(),
        &secrets,
        1000,
    );
    assert_eq!(kept.messages[0], messages[0]);
    let newest = &kept.messages[2..];
    assert_eq!(newest, &messages[messages.len() - newest.len()..]);
    assert_eq!(kept.messages[1], json!({ "omitted": 100 - newest.len() }));
    assert!(
        newest.len() > 2
            && kept
                .messages
                .iter()
                .map(|kept| kept.to_string().len())
                .sum::<usize>()
                < 1100
    );
    let tool = kept.tools.unwrap()[0].as_str().to_owned();
    assert_eq!(tool, r#"{"function":{"name":"look"},"type":"function"}"#);

    let long = [message("user", &"é".repeat(5000))];
    let kept = RequestRecord::from_preview(preview(&long, &[]), &mut SentBefore::default(), &secrets, 1001);
    let text = kept.messages[0]["content"].as_str().unwrap();
    assert!(
        text.ends_with("é… (8999 more bytes)") && text.len() < 1100,
        "{text}"
    );
}

#[test]
fn keeps_answer_text_first() {
    let raw = RawAnswer {
        unreadable: Vec::new(),
        left_out: Vec::new(),
        thinking: "t".repeat(100),
        text: "a".repeat(90),
        tool_calls: vec![RawCall {
            id: "1".into(),
            name: "look".into(),
            arguments: KEY.into(),
        }],
        cut: false,
    };
    let response = ResponseRecord {
        raw,
        ..ResponseRecord::pending()
    };
    let kept = response.truncated(&secrets(), 100).raw;
    assert_eq!((kept.text.len(), kept.thinking.len(), kept.cut), (90, 10, true));
    let kept = response.truncated(&secrets(), 1000).raw;
    assert_eq!((&*kept.tool_calls[0].arguments, kept.cut), ("•••", false));
}

#[test]
fn merges_equal_entries_and_limits_the_timeline() {
    let mut timeline = Vec::new();
    let delta = RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset: 0,
        text: "x".into(),
    };
    for at in 1..=3 {
        push_timeline_event(&mut timeline, &delta, Timestamp(at), 3);
    }
    let expected = TimelineEntry {
        at: Timestamp(1),
        kind: "text_delta".into(),
        detail: None,
        count: 3,
        until: Timestamp(3),
    };
    assert_eq!(timeline, [expected]);
    for n in 0..10 {
        let status = RunEvent::Status {
            message: format!("{n}"),
        };
        push_timeline_event(&mut timeline, &status, Timestamp(4), 3);
    }
    assert_eq!(timeline.len(), 3);
}
