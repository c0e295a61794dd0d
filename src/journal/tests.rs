use super::*;
use crate::protocol::{ConversationId, UserId};

fn run() -> RunKey {
    RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    }
}

fn text(offset: usize, text: &str) -> EventBody {
    EventBody::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

fn append(run: RunKey, event: EventBody) -> Entry {
    Entry {
        change: Change::Append {
            run,
            events: vec![event],
        },
        done: None,
    }
}

#[test]
fn deltas_of_one_part_are_joined_and_nothing_moves_across_another_change() {
    let (a, b) = (run(), run());
    let rename = || Change::Rename {
        user_id: UserId::LOCAL,
        conversation_id: a.conversation_id,
        title: "x".into(),
    };
    let merged = merge(
        [
            append(a, text(0, "He")),
            append(b, text(0, "1")),
            append(a, text(2, "llo")),
            append(
                b,
                EventBody::Status {
                    message: "busy".into(),
                },
            ),
            append(b, text(1, "2")),
            Entry {
                change: rename(),
                done: None,
            },
            append(a, text(5, "!")),
        ]
        .into_iter(),
    );
    let seen: Vec<String> = merged.iter().map(|entry| format!("{:?}", entry.change)).collect();
    let expected = [
        Change::Append {
            run: a,
            events: vec![text(0, "Hello")],
        },
        Change::Append {
            run: b,
            events: vec![
                text(0, "1"),
                EventBody::Status {
                    message: "busy".into(),
                },
                text(1, "2"),
            ],
        },
        rename(),
        Change::Append {
            run: a,
            events: vec![text(5, "!")],
        },
    ];
    assert_eq!(seen, expected.map(|change| format!("{change:?}")));
}

#[test]
fn nothing_moves_across_what_is_stored() {
    let run = run();
    let message = AssistantMessage::started("x/m");
    let store = Entry {
        change: Change::Store { run, message },
        done: None,
    };
    let merged = merge([append(run, text(0, "a")), store, append(run, text(1, "b"))].into_iter());
    assert_eq!(merged.len(), 3, "{merged:?}");
}

#[test]
fn deltas_are_joined_only_up_to_a_length() {
    let run = run();
    let piece = "x".repeat(MERGED_BYTES / 3);
    let entries = (0..10).map(|n| append(run, text(n * piece.len(), &piece)));
    let merged = merge(entries);
    let [
        Entry {
            change: Change::Append { events, .. },
            ..
        },
    ] = &merged[..]
    else {
        panic!("one change: {merged:?}")
    };
    let lengths: Vec<usize> = events
        .iter()
        .map(|event| match event {
            EventBody::TextDelta { text, .. } => text.len() / piece.len(),
            _ => 0,
        })
        .collect();
    assert_eq!(lengths, [3, 3, 3, 1]);
}
