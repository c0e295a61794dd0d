//! Decoding of whole answers in the tests of the adapters.

use std::{collections::VecDeque, path::Path};

use proptest::sample::Index;
use serde_json::{Value, json};

use super::decoder::{DecodeError, Decoder, EventDecoder};
use crate::DEFAULT_MAX_FRAME_BYTES;
use parlor_model::{
    ModelEvent::{self, Text, Thinking, ToolArguments},
    ProviderDataTarget, ReportedUsage, UnreadableContent,
};
use parlor_protocol::{ProviderData, RawJson};

/// Decodes these chunks. Adjacent deltas are joined, and early counts of the request are left out: the usage repeats them.
pub fn decode<'a>(
    protocol: impl EventDecoder + 'static,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let mut decoder = Decoder::new(protocol, DEFAULT_MAX_FRAME_BYTES);
    let mut events = VecDeque::new();
    let mut result = Ok(());
    for chunk in chunks {
        result = result.and_then(|()| decoder.push(chunk, &mut events));
    }
    result = result.and_then(|()| decoder.end(&mut events));
    events.retain(|event| !matches!(event, ModelEvent::InputCounted(_)));
    (merge_deltas(events), result.err())
}

/// Decodes a stream of these events.
pub fn decode_events(
    protocol: impl EventDecoder + 'static,
    events: &[Value],
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    decode(protocol, [stream_of(&events, "\n").as_slice()])
}

/// Decodes a stream of these JSON texts.
pub fn decode_texts<T: AsRef<str>>(
    protocol: impl EventDecoder + 'static,
    events: &[T],
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let stream: String = events
        .iter()
        .map(|event| format!("data: {}\n\n", event.as_ref()))
        .collect();
    decode(protocol, [stream.as_bytes()])
}

/// Checks that a protocol reads JSON leniently. `text`, `thinking` and `arguments` make the event of a delta, given as
/// the inside of a JSON string (`arguments` only if they are text); `begin` and `end` are the events around them, with one call.
pub fn check_odd_json<D: EventDecoder + 'static>(
    decoder: impl Fn() -> D,
    begin: &[&str],
    end: &[&str],
    [text, thinking]: [fn(&str) -> String; 2],
    arguments: Option<fn(&str) -> String>,
) {
    let outcome = |deltas: &[String]| {
        let begin = begin.iter().map(|event| (*event).to_owned());
        let end = end.iter().map(|event| (*event).to_owned());
        let events: Vec<String> = begin.chain(deltas.iter().cloned()).chain(end).collect();
        let (events, error) = decode_texts(decoder(), &events);
        assert_eq!(error, None, "{deltas:?}");
        assert!(
            matches!(events.last(), Some(ModelEvent::Finished(_))),
            "{deltas:?} {events:?}"
        );
        let of = |pick: fn(&ModelEvent) -> Option<&str>| events.iter().filter_map(pick).collect::<String>();
        [
            of(|event| match event {
                Text(text) => Some(text),
                _ => None,
            }),
            of(|event| match event {
                Thinking(text) => Some(text),
                _ => None,
            }),
            of(|event| match event {
                ToolArguments { delta, .. } => Some(delta),
                _ => None,
            }),
        ]
    };
    for (deltas, expected) in [
        (vec![r"a\ud83d", r"\ude00b"], "a😀b"),
        (vec![r"a\uD83D", "", r"\uDE00b"], "a😀b"),
        (vec![r"a\ud83db"], "a\u{fffd}b"),
        (vec![r"\ude00", r"a\ud83d"], "\u{fffd}a\u{fffd}"),
        (vec![r"\ud83d", r"\ud83d\ude00"], "\u{fffd}😀"),
        (vec!["a\tb\u{1}"], "a\tb\u{1}"),
        (vec![r"a\qb"], "a\\qb"),
    ] {
        let made = |make: fn(&str) -> String| deltas.iter().map(|delta| make(delta)).collect::<Vec<_>>();
        assert_eq!(outcome(&made(text))[0], expected, "text {deltas:?}");
        assert_eq!(outcome(&made(thinking))[1], expected, "thinking {deltas:?}");
        if let Some(arguments) = arguments {
            assert_eq!(outcome(&made(arguments))[2], expected, "arguments {deltas:?}");
        }
    }
    // Halves are joined within their part only.
    let crossed = [thinking(r"a\ud83d"), text(r"\ude00b")];
    let [told, thought, _] = outcome(&crossed);
    assert_eq!([told.as_str(), thought.as_str()], ["\u{fffd}b", "a\u{fffd}"]);
    for odd in ["null", "7", "\"odd\"", "true", "[]", "NaN", "{\"odd\": NaN}"] {
        assert_eq!(outcome(&[text("a"), odd.into(), text("b")])[0], "ab", "{odd}");
    }
    // What is held as a possible tag is text if the answer fails.
    let started = begin.iter().map(|event| (*event).to_owned());
    let failing: Vec<String> = started
        .chain([text("a <thi"), r#"{"error": {"message": "down"}}"#.to_owned()])
        .collect();
    let (events, error) = decode_texts(decoder(), &failing);
    assert!(error.is_some(), "{events:?}");
    let told = events.iter().filter_map(|event| match event {
        Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(told.collect::<String>(), "a <thi");
    // A last event without its empty line.
    let begin = begin.iter().map(|event| (*event).to_owned());
    let end = end.iter().map(|event| (*event).to_owned());
    let whole: Vec<String> = begin.chain([text("a")]).chain(end).collect();
    for line_end in ["", "\n"] {
        let stream = whole
            .iter()
            .map(|event| format!("data: {event}"))
            .collect::<Vec<_>>();
        let stream = stream.join("\n\n") + line_end;
        let (events, error) = decode(decoder(), [stream.as_bytes()]);
        assert!(events.contains(&Text("a".into())), "{events:?}");
        assert_eq!(error, None, "{stream:?}");
    }
}

/// Decodes a recorded stream.
pub fn decode_recorded(
    folder: &str,
    name: &str,
    protocol: impl EventDecoder + 'static,
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let events = recorded_events(folder, name);
    decode(protocol, [stream_of(&events, "\n").as_slice()])
}

pub fn merge_deltas(events: impl IntoIterator<Item = ModelEvent>) -> Vec<ModelEvent> {
    let mut merged: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (merged.last_mut(), event) {
            (Some(Text(text)), Text(more)) | (Some(Thinking(text)), Thinking(more)) => text.push_str(&more),
            (
                Some(ToolArguments { index, delta }),
                ToolArguments {
                    index: same,
                    delta: more,
                },
            ) if *index == same => delta.push_str(&more),
            (_, event) => merged.push(event),
        }
    }
    merged
}

/// Returns the events of a recorded stream, one JSON text each.
pub fn recorded_events(folder: &str, name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/model-streams")
        .join(folder)
        .join(format!("{name}.jsonl"));
    let events = std::fs::read_to_string(path).unwrap();
    let lines = events.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns values that servers may send in place of those that are documented.
pub fn odd_values() -> [Value; 5] {
    [
        json!("odd"),
        json!(1.5),
        json!(["a"]),
        json!({ "a": 1 }),
        json!(true),
    ]
}

/// Returns the bytes of a stream of these events. Those with a type are named after it.
pub fn stream_of<T: AsRef<str>>(events: &[T], line_end: &str) -> Vec<u8> {
    let frame = |data: &T| {
        let data = data.as_ref();
        let json: Value = serde_json::from_str(data).unwrap_or_default();
        let name = json["type"]
            .as_str()
            .map(|name| format!("event: {name}{line_end}"));
        format!("{}data: {data}{line_end}{line_end}", name.unwrap_or_default())
    };
    events.iter().map(frame).collect::<String>().into_bytes()
}

/// Checks that all chunkings of these recordings decode to the same events, which end as they should.
pub fn check_chunkings<D: EventDecoder + 'static>(folder: &str, names: &[&str], decoder: impl Fn() -> D) {
    for name in names {
        let events = recorded_events(folder, name);
        let expected = decode(decoder(), [stream_of(&events, "\n").as_slice()]);
        let is_end = matches!(expected.0.last(), Some(ModelEvent::Finished(_))) || expected.1.is_some();
        assert!(is_end, "{name}: {expected:?}");
        for line_end in ["\n", "\r\n", "\r"] {
            let bytes = stream_of(&events, line_end);
            assert_eq!(
                decode(decoder(), bytes.chunks(1)),
                expected,
                "{name}, {line_end:?}, byte by byte"
            );
        }
    }
}

/// Decodes a recording that is cut at these places.
pub fn decode_cut(
    folder: &str,
    name: &str,
    decoder: impl EventDecoder + 'static,
    cuts: &[Index],
) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let bytes = stream_of(&recorded_events(folder, name), "\n");
    decode(decoder, cut_at(&bytes, cuts))
}

/// Returns the chunks of a stream that is cut at these places.
pub fn cut_at<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Returns the event of these token counts.
pub fn usage(input_tokens: u64, output_tokens: u64, thinking_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(ReportedUsage {
        input_tokens,
        output_tokens,
        thinking_tokens,
        ..ReportedUsage::default()
    })
}

/// Returns the event of a tool call.
pub fn call(index: usize, id: &str, name: &str) -> ModelEvent {
    let (id, name) = (id.into(), name.into());
    ModelEvent::ToolCall { index, id, name }
}

/// Returns the event of a part of a tool call's arguments.
pub fn arguments(index: usize, delta: &str) -> ModelEvent {
    let delta = delta.into();
    ToolArguments { index, delta }
}

/// Returns the event of data for a provider of this kind.
pub fn provider_data(kind: &str, target: ProviderDataTarget, field: &str, value: &str) -> ModelEvent {
    let data = ProviderData {
        kind: kind.into(),
        field: field.into(),
        value: RawJson::parse_or_quote(value),
    };
    ModelEvent::ProviderData { target, data }
}

/// Returns the content that could not be read.
pub fn unreadable(events: &[ModelEvent]) -> Vec<&UnreadableContent> {
    let unreadable = events.iter().filter_map(|event| match event {
        ModelEvent::Unreadable { what, .. } => Some(what),
        _ => None,
    });
    unreadable.collect()
}
