use super::{super::run_result::text_with_markers as message, *};
use parlor_protocol::{Node, RawJson, RequestedCall, Timestamp, ToolCall};

fn text_delta(node: usize, part: usize, offset: usize, text: &str) -> RunEvent {
    let text = text.into();
    RunEvent::TextDelta {
        node,
        part,
        offset,
        text,
    }
}

fn thinking_delta(node: usize, part: usize) -> RunEvent {
    RunEvent::Thinking {
        node,
        part,
        offset: 0,
        text: "Hm.".into(),
        took_ms: 0,
    }
}

fn tool_start(node: usize, part: usize, index: usize) -> RunEvent {
    RunEvent::ToolStart {
        call: RequestedCall {
            node,
            part,
            index,
            tool_use_id: "c".into(),
            tool: "look".into(),
            input: RawJson::parse_or_quote("{}"),
            label: "Looking".into(),
            detail: None,
        },
        started_at: Timestamp(0),
    }
}

fn tool_complete(index: usize) -> RunEvent {
    RunEvent::ToolComplete {
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

fn run_complete() -> RunEvent {
    RunEvent::Complete {
        is_quiet: false,
        finish_reason: None,
        ended_at: Timestamp(0),
        worked_ms: 0,
    }
}

/// Joins all deltas, except those of a node whose text was thinking.
fn join_deltas(markers: &mut ToolMarkers, events: &[RunEvent]) -> String {
    let mut texts: Vec<(usize, String)> = Vec::new();
    for event in events {
        for frame in markers.frames(event) {
            match (frame, event) {
                (MarkedFrame::Logged, RunEvent::TextDelta { node, text, .. }) => {
                    texts.push((*node, text.clone()))
                }
                (MarkedFrame::Logged, RunEvent::TextWasThinking { node }) => {
                    texts.retain(|(of, _)| of != node)
                }
                (MarkedFrame::Logged, _) => {}
                (
                    MarkedFrame::Delta { offset, text: delta },
                    RunEvent::TextDelta {
                        node,
                        offset: logged,
                        text: whole,
                        ..
                    },
                ) => {
                    assert!(whole[offset - logged..].starts_with(&delta), "{delta}");
                    texts.push((*node, delta));
                }
                (MarkedFrame::Delta { .. }, event) => panic!("no text: {event:?}"),
                (MarkedFrame::Inserted(addition), _) => texts.push((addition.node, addition.text)),
            }
        }
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

fn text_part(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn thinking_part() -> Part {
    Part::Thinking { text: "Hm.".into() }
}

fn tool_call_part(index: usize, status: ToolStatus) -> Part {
    let call = ToolCall::for_test("look", status);
    Part::ToolCall(Box::new(ToolCall { index, ..call }))
}

fn assistant_message(nodes: Vec<Vec<Part>>) -> AssistantMessage {
    let mut answer = AssistantMessage::new("x/m");
    answer.nodes = nodes.into_iter().map(|parts| Node { parts }).collect();
    answer
}

/// Returns an answer with two calls, of which the second ends first, and an interrupted text; and its events.
fn sample_answer() -> (AssistantMessage, Vec<RunEvent>) {
    let done = ToolStatus::Complete;
    let answer = assistant_message(vec![
        vec![
            thinking_part(),
            text_part("I look[[tool:7]]."),
            tool_call_part(0, done),
            tool_call_part(1, done),
        ],
        vec![text_part("Fou")],
        vec![thinking_part(), text_part("nd [[to"), text_part("more")],
        vec![tool_call_part(2, ToolStatus::Stopped)],
    ]);
    let events = vec![
        thinking_delta(0, 0),
        text_delta(0, 1, 0, "I look[[to"),
        text_delta(0, 1, 10, "ol:7]]."),
        tool_start(0, 2, 0),
        tool_start(0, 3, 1),
        tool_complete(1),
        tool_complete(0),
        text_delta(1, 0, 0, "Fou"),
        thinking_delta(2, 0),
        text_delta(2, 1, 0, "nd [[to"),
        text_delta(2, 2, 0, "more"),
        tool_start(3, 0, 2),
        run_complete(),
    ];
    (answer, events)
}

#[test]
fn joined_deltas_equal_the_message() {
    let (answer, events) = sample_answer();
    let expected = "I look[[tool\\:7]].\n\n[[tool:0]]\n\n[[tool:1]]\n\nFound [[to\n\nmore\n\n[[tool:2]]";
    assert_eq!(message(&answer), expected);
    assert_eq!(join_deltas(&mut ToolMarkers::default(), &events), expected);
}

#[test]
fn text_that_was_thinking_leaves_nothing() {
    let done = ToolStatus::Complete;
    let was_thinking = |node| RunEvent::TextWasThinking { node };
    let first = (
        assistant_message(vec![vec![thinking_part(), text_part("Hello.")]]),
        vec![
            text_delta(0, 0, 0, "Hm."),
            was_thinking(0),
            text_delta(0, 1, 0, "Hello."),
        ],
    );
    let after_a_call = (
        assistant_message(vec![
            vec![tool_call_part(0, done)],
            vec![thinking_part(), text_part("ol:1]]."), tool_call_part(1, done)],
        ]),
        vec![
            tool_start(0, 0, 0),
            tool_complete(0),
            text_delta(1, 0, 0, "Hm[[to"),
            was_thinking(1),
            text_delta(1, 1, 0, "ol:1]]."),
            tool_start(1, 2, 1),
            tool_complete(1),
            run_complete(),
        ],
    );
    let broken_off = (
        assistant_message(vec![
            vec![text_part("Fou[[to")],
            vec![thinking_part(), text_part("ol:1]]nd")],
            vec![thinking_part()],
            vec![text_part("More")],
        ]),
        vec![
            text_delta(0, 0, 0, "Fou[[to"),
            text_delta(1, 0, 0, "Hm."),
            was_thinking(1),
            text_delta(1, 1, 0, "ol:1]]nd"),
            text_delta(2, 0, 0, "Hm."),
            was_thinking(2),
            text_delta(3, 0, 0, "More"),
            run_complete(),
        ],
    );
    for (answer, events) in [first, after_a_call, broken_off] {
        assert_eq!(
            join_deltas(&mut ToolMarkers::default(), &events),
            message(&answer),
            "{events:?}"
        );
    }
}

#[test]
fn marker_follows_the_end_of_its_call() {
    let mut markers = ToolMarkers::default();
    let frames: Vec<_> = [
        tool_start(0, 0, 0),
        tool_start(0, 1, 1),
        tool_complete(1),
        tool_complete(0),
    ]
    .iter()
    .map(|event| markers.frames(event))
    .collect();
    let mark = |index| inserted_frame(0, index, Some(index), &tool_marker(index));
    let expected = [
        vec![MarkedFrame::Logged],
        vec![MarkedFrame::Logged],
        vec![MarkedFrame::Logged],
        vec![
            MarkedFrame::Logged,
            mark(0),
            inserted_frame(0, 1, None, SEPARATOR),
            mark(1),
        ],
    ];
    assert_eq!(frames, expected);
}

#[test]
fn resumes_in_the_middle_of_an_answer() {
    let (answer, events) = sample_answer();
    // Not in the middle of concurrent calls: their markers can't be determined then. Streams begin where a
    // run begins or continues.
    for begin in (0..events.len() - 1).filter(|begin| !(4..6).contains(begin)) {
        let mut before = ToolMarkers::default();
        let first = join_deltas(&mut before, &events[..begin]);
        let mut markers = ToolMarkers::default();
        let mut second = String::new();
        for event in &events[begin..] {
            if markers.is_behind(event) {
                markers.catch_up(&answer, event);
            }
            second += &join_deltas(&mut markers, std::slice::from_ref(event));
        }
        assert_eq!(first + &second, message(&answer), "from event {begin}");
    }
}
