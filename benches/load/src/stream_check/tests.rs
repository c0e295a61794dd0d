use super::*;

const COMPLETE: &str = r#""type":"complete","payload":{"message":"0@100 1@200 2@300 "}"#;

fn delta(offset: usize, text: &str) -> String {
    format!(r#""type":"text_delta","node":0,"part":0,"offset":{offset},"text":"{text}""#)
}

/// Returns the result of a checker for these events, split into chunks of 7 bytes.
fn check_events(events: &[(u64, String)]) -> RunCheck {
    let mut checker = Checker::new(Instant::now(), 3, 10_000.0, false);
    let stream: String = events
        .iter()
        .map(|(id, body)| format!("id: {id}\ndata: {{\"position\":{id},{body}}}\n\n"))
        .collect();
    for bytes in format!(": heartbeat\n\n{stream}").as_bytes().chunks(7) {
        checker.push(bytes, 450);
    }
    checker.finish()
}

#[test]
fn valid_stream_has_no_faults() {
    let run = check_events(&[
        (3, delta(0, "0@100 1@2")),
        (5, delta(9, "00 2@300 ")),
        (6, COMPLETE.into()),
    ]);
    assert_eq!((run.faults, run.first_fault), (Faults::default(), None));
    assert_eq!(
        (run.delays, run.lateness),
        (vec![350, 250, 150], vec![350, 250, 150])
    );
}

#[test]
fn reads_the_tokens_of_chat_completions() {
    let mut checker = Checker::new(Instant::now(), 2, 0.0, false);
    let chunk = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let stream = chunk("0@1000000000000000 ") + &chunk("1@1000000000000001 ") + "data: [DONE]\n\n";
    checker.push_completions(stream.as_bytes(), 1_000_000_000_000_101);
    let run = checker.finish();
    assert_eq!((run.faults, run.first_fault), (Faults::default(), None));
    assert_eq!(run.delays, [101, 100]);
}

#[test]
fn counts_each_kind_of_fault() {
    let cases = [
        (
            vec![(3, delta(0, "0@100 2@300 ")), (6, COMPLETE.into())],
            (1, 0, 0, 0, 1),
        ),
        (
            vec![(3, delta(0, "0@100 1@200 1@200 2@300 ")), (6, COMPLETE.into())],
            (0, 1, 0, 0, 1),
        ),
        (
            vec![(3, delta(0, "0@100 2@300 1@200 ")), (6, COMPLETE.into())],
            (0, 0, 1, 0, 1),
        ),
        (
            vec![
                (3, delta(0, "0@100 ")),
                (3, delta(6, "1@200 2@300 ")),
                (6, COMPLETE.into()),
            ],
            (0, 0, 1, 0, 0),
        ),
        (
            vec![
                (3, delta(0, "0@100 ")),
                (4, delta(7, "1@200 2@300 ")),
                (6, COMPLETE.into()),
            ],
            (0, 0, 0, 1, 0),
        ),
        (vec![(3, delta(0, "0@100 1@200 2@300 "))], (0, 0, 0, 0, 1)),
    ];
    for (events, (lost, duplicated, reordered, gaps, incomplete)) in cases {
        let run = check_events(&events);
        assert_eq!(
            run.faults,
            Faults {
                lost,
                duplicated,
                reordered,
                gaps,
                incomplete
            },
            "{events:?}"
        );
        assert!(run.first_fault.is_some());
    }
}
