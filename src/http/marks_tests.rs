use super::{super::payload::text as message, *};
use crate::protocol::{AskedCall, Json, Node, Timestamp, ToolCall};

fn said(node: usize, part: usize, offset: usize, text: &str) -> EventBody {
    let text = text.into();
    EventBody::TextDelta {
        node,
        part,
        offset,
        text,
    }
}

fn thought(node: usize, part: usize) -> EventBody {
    EventBody::Thinking {
        node,
        part,
        offset: 0,
        text: "Hm.".into(),
    }
}

fn start(node: usize, part: usize, index: usize) -> EventBody {
    EventBody::ToolStart {
        call: AskedCall {
            node,
            part,
            index,
            tool_use_id: "c".into(),
            tool: "look".into(),
            input: Json::or_string("{}"),
            label: "Looking".into(),
            detail: None,
        },
        started_at: Timestamp(0),
    }
}

fn end(index: usize) -> EventBody {
    EventBody::ToolComplete {
        index,
        tool_use_id: "c".into(),
        tool: "look".into(),
        label: "Looked".into(),
        status: ToolStatus::Complete,
        output: "seen".into(),
        payload: None,
        attachments: Vec::new(),
        ended_at: Timestamp(0),
    }
}

fn complete() -> EventBody {
    EventBody::Complete {
        finish_reason: None,
        ended_at: Timestamp(0),
        worked_ms: 0,
    }
}

/// All deltas, joined, but for those of a node whose text was thinking.
fn joined(marks: &mut Marks, events: &[EventBody]) -> String {
    let mut texts: Vec<(usize, String)> = Vec::new();
    for event in events {
        for frame in marks.frames(event) {
            match (frame, event) {
                (Frame::Logged, EventBody::TextDelta { node, text, .. }) => texts.push((*node, text.clone())),
                (Frame::Logged, EventBody::TextWasThinking { node }) => texts.retain(|(of, _)| of != node),
                (Frame::Logged, _) => {}
                (
                    Frame::Delta { offset, text: delta },
                    EventBody::TextDelta {
                        node,
                        offset: logged,
                        text: whole,
                        ..
                    },
                ) => {
                    assert!(whole[offset - logged..].starts_with(&delta), "{delta}");
                    texts.push((*node, delta));
                }
                (Frame::Delta { .. }, event) => panic!("no text: {event:?}"),
                (Frame::Added(addition), _) => texts.push((addition.node, addition.text)),
            }
        }
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

fn part(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn thinking() -> Part {
    Part::Thinking { text: "Hm.".into() }
}

fn call(index: usize, status: ToolStatus) -> Part {
    let call = ToolCall::of("look", status);
    Part::ToolCall(Box::new(ToolCall { index, ..call }))
}

fn answer(nodes: Vec<Vec<Part>>) -> AssistantMessage {
    let mut answer = AssistantMessage::started("x/m");
    answer.nodes = nodes.into_iter().map(|parts| Node { parts }).collect();
    answer
}

/// An answer with two calls, of which the second ends first, and a text that was broken off; and its events.
fn whole() -> (AssistantMessage, Vec<EventBody>) {
    let done = ToolStatus::Complete;
    let answer = answer(vec![
        vec![
            thinking(),
            part("I look[[tool:7]]."),
            call(0, done),
            call(1, done),
        ],
        vec![part("Fou")],
        vec![thinking(), part("nd [[to"), part("more")],
        vec![call(2, ToolStatus::Stopped)],
    ]);
    let events = vec![
        thought(0, 0),
        said(0, 1, 0, "I look[[to"),
        said(0, 1, 10, "ol:7]]."),
        start(0, 2, 0),
        start(0, 3, 1),
        end(1),
        end(0),
        said(1, 0, 0, "Fou"),
        thought(2, 0),
        said(2, 1, 0, "nd [[to"),
        said(2, 2, 0, "more"),
        start(3, 0, 2),
        complete(),
    ];
    (answer, events)
}

#[test]
fn deltas_joined_are_the_message() {
    let (answer, events) = whole();
    let expected = "I look[[tool\\:7]].\n\n[[tool:0]]\n\n[[tool:1]]\n\nFound [[to\n\nmore\n\n[[tool:2]]";
    assert_eq!(message(&answer), expected);
    assert_eq!(joined(&mut Marks::default(), &events), expected);
}

#[test]
fn text_that_was_thinking_leaves_nothing() {
    let done = ToolStatus::Complete;
    let was_thinking = |node| EventBody::TextWasThinking { node };
    let first = (
        answer(vec![vec![thinking(), part("Hello.")]]),
        vec![said(0, 0, 0, "Hm."), was_thinking(0), said(0, 1, 0, "Hello.")],
    );
    let after_a_call = (
        answer(vec![
            vec![call(0, done)],
            vec![thinking(), part("ol:1]]."), call(1, done)],
        ]),
        vec![
            start(0, 0, 0),
            end(0),
            said(1, 0, 0, "Hm[[to"),
            was_thinking(1),
            said(1, 1, 0, "ol:1]]."),
            start(1, 2, 1),
            end(1),
            complete(),
        ],
    );
    let broken_off = (
        answer(vec![
            vec![part("Fou[[to")],
            vec![thinking(), part("ol:1]]nd")],
            vec![thinking()],
            vec![part("More")],
        ]),
        vec![
            said(0, 0, 0, "Fou[[to"),
            said(1, 0, 0, "Hm."),
            was_thinking(1),
            said(1, 1, 0, "ol:1]]nd"),
            said(2, 0, 0, "Hm."),
            was_thinking(2),
            said(3, 0, 0, "More"),
            complete(),
        ],
    );
    for (answer, events) in [first, after_a_call, broken_off] {
        assert_eq!(
            joined(&mut Marks::default(), &events),
            message(&answer),
            "{events:?}"
        );
    }
}

#[test]
fn a_mark_comes_after_its_calls_end() {
    let mut marks = Marks::default();
    let frames: Vec<_> = [start(0, 0, 0), start(0, 1, 1), end(1), end(0)]
        .iter()
        .map(|event| marks.frames(event))
        .collect();
    let mark = |index| added(0, index, Some(index), &mark(index));
    let expected = [
        vec![Frame::Logged],
        vec![Frame::Logged],
        vec![Frame::Logged],
        vec![Frame::Logged, mark(0), added(0, 1, None, SEPARATOR), mark(1)],
    ];
    assert_eq!(frames, expected);
}

#[test]
fn a_stream_that_begins_in_the_middle_goes_on() {
    let (answer, events) = whole();
    // Not in the middle of calls at the same time: which of them have a mark can't be told then. Streams begin where a run begins or
    // goes on.
    for begin in (0..events.len() - 1).filter(|begin| !(4..6).contains(begin)) {
        let mut before = Marks::default();
        let first = joined(&mut before, &events[..begin]);
        let mut marks = Marks::default();
        let mut second = String::new();
        for event in &events[begin..] {
            if marks.is_behind(event) {
                marks.catch_up(&answer, event);
            }
            second += &joined(&mut marks, std::slice::from_ref(event));
        }
        assert_eq!(first + &second, message(&answer), "from event {begin}");
    }
}
