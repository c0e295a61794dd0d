use serde_json::{Value, json};

use super::record::{Known, Raw, RawCall, Request, Response, TimelineEntry, happened};
use crate::{
    model::Sent,
    protocol::{EventBody, Timestamp},
    secrets::Secrets,
};

const KEY: &str = "sk-0123456789-abcdef";

fn secrets() -> Secrets {
    Secrets::default().with([KEY, "p@ssw0rd", "env-pass-1"])
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn sent(messages: &[Value], tools: &[Value]) -> Sent {
    let body = json!({ "model": "m", "stream": true, "messages": messages, "tools": tools });
    let Value::Object(body) = body else { unreachable!() };
    Sent {
        address: "http://x/v1".into(),
        body,
    }
}

#[test]
fn what_was_sent_before_is_not_written_down_again() {
    let (secrets, mut known) = (secrets(), Known::default());
    let mut messages = vec![message("system", "Be kind."), message("user", "Hi")];
    let tools = [json!({ "type": "function", "function": { "name": "look", "description": KEY } })];
    let first = Request::of(sent(&messages, &tools), &mut known, &secrets, 10_000);
    assert_eq!((first.goes_on, &first.messages), (false, &messages));
    assert_eq!(first.parameters, *json!({ "stream": true }).as_object().unwrap());
    let kept = first.tools.expect("tools");
    assert!(kept[0].as_str().contains("look") && !kept[0].as_str().contains(KEY));

    messages.push(message("assistant", "Hello"));
    let next = Request::of(sent(&messages, &tools), &mut known, &secrets, 10_000);
    assert_eq!(
        (next.goes_on, next.messages, next.tools),
        (true, messages[2..].to_vec(), None)
    );

    messages[1] = message("user", "Hey");
    let other = Request::of(sent(&messages, &[]), &mut known, &secrets, 10_000);
    assert_eq!(
        (other.goes_on, other.messages, other.tools),
        (false, messages, Some(Vec::new()))
    );
}

#[test]
fn of_much_the_system_prompt_and_the_newest_messages_are_kept() {
    let secrets = secrets();
    let mut messages = vec![message("system", "Be kind.")];
    messages.extend((0..100).map(|n| message("user", &format!("message {n} {}", "x".repeat(100)))));
    let tools =
        [json!({ "type": "function", "function": { "name": "look", "description": "x".repeat(5000) } })];
    let kept = Request::of(sent(&messages, &tools), &mut Known::default(), &secrets, 1000);
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
    let kept = Request::of(sent(&long, &[]), &mut Known::default(), &secrets, 1001);
    let text = kept.messages[0]["content"].as_str().unwrap();
    assert!(
        text.ends_with("é… (8999 more bytes)") && text.len() < 1100,
        "{text}"
    );
}

#[test]
fn of_what_came_back_the_text_is_kept_first() {
    let raw = Raw {
        unread: Vec::new(),
        thinking: "t".repeat(100),
        text: "a".repeat(90),
        tool_calls: vec![RawCall {
            id: "1".into(),
            name: "look".into(),
            arguments: KEY.into(),
        }],
        cut: false,
    };
    let response = Response {
        raw,
        ..Response::awaited()
    };
    let kept = response.kept(&secrets(), 100).raw;
    assert_eq!((kept.text.len(), kept.thinking.len(), kept.cut), (90, 10, true));
    let kept = response.kept(&secrets(), 1000).raw;
    assert_eq!((&*kept.tool_calls[0].arguments, kept.cut), ("•••", false));
}

#[test]
fn several_of_a_kind_are_one_entry_and_the_timeline_has_an_end() {
    let mut timeline = Vec::new();
    let delta = EventBody::TextDelta {
        node: 0,
        part: 0,
        offset: 0,
        text: "x".into(),
    };
    for at in 1..=3 {
        happened(&mut timeline, &delta, Timestamp(at), 3);
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
        let status = EventBody::Status {
            message: format!("{n}"),
        };
        happened(&mut timeline, &status, Timestamp(4), 3);
    }
    assert_eq!(timeline.len(), 3);
}
