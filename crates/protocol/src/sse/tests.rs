use fuzzing::properties;
use proptest::prelude::*;

use super::*;

fn decode(chunks: &[&[u8]]) -> Vec<SseFrame> {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut frames).unwrap();
    }
    frames
}

fn data(text: &str) -> SseFrame {
    SseFrame {
        data: text.into(),
        ..SseFrame::default()
    }
}

#[test]
fn decodes_the_standards_examples() {
    let cases: [(&str, Vec<SseFrame>); 5] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", vec![data("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            vec![
                SseFrame {
                    id: Some("1".into()),
                    ..data("first event")
                },
                SseFrame {
                    id: Some(String::new()),
                    ..data("second event")
                },
                data(" third event"),
            ],
        ),
        ("data\n\ndata\ndata\n\ndata:", vec![data(""), data("\n")]),
        (
            "\u{feff}data:test\r\n\r\ndata: test\r\r",
            vec![data("test"), data("test")],
        ),
        (
            "event: reset\ndata: {}\n\n",
            vec![SseFrame {
                event: Some("reset".into()),
                ..data("{}")
            }],
        ),
    ];
    for (stream, frames) in cases {
        assert_eq!(decode(&[stream.as_bytes()]), frames, "{stream:?}");
    }
}

#[test]
fn keeps_lines_without_a_field_apart() {
    let frame = SseFrame {
        unescaped_data: Some("a\nb: c\n d".into()),
        ..data("a")
    };
    assert_eq!(
        decode(&[b"odd\ndata: a\n: beat\nb: c\nretry: 1\n d\n\ndata: e\n\n"]),
        [frame, data("e")]
    );
}

#[test]
fn returns_the_frame_without_its_end() {
    for (stream, frame) in [
        ("data: a\n\n", None),
        ("data: a\n\ndata: b", Some(data("b"))),
        ("data: a\n\ndata: b\r", Some(data("b"))),
        ("data: a\n\n: beat", None),
        ("", None),
    ] {
        let mut decoder = SseDecoder::new(100);
        decoder.push(stream.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(decoder.take_cut_frame(), frame, "{stream:?}");
        assert_eq!(decoder.take_cut_frame(), None, "{stream:?}");
    }
}

#[test]
fn rejects_long_frames_but_not_long_comments() {
    let mut frames = Vec::new();
    let mut decoder = SseDecoder::new(10);
    for _ in 0..100 {
        decoder.push(b": beat\n", &mut frames).unwrap();
    }
    decoder.push(b"data: 1\n\ndata: ", &mut frames).unwrap();
    assert_eq!(
        decoder.push(&[b'x'; 10], &mut frames),
        Err(FrameTooLong { limit: 10 })
    );
    assert_eq!(frames, [data("1")]);
}

properties! {
    256;

    #[test]
    fn frames_round_trip_at_any_chunking(
        texts in prop::collection::vec("[ -~\u{e9}\u{1f980}\n]{0,12}", 1..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut stream = String::new();
        for (index, text) in texts.iter().enumerate() {
            stream += &encode_frame(Some(index as u64), None, text);
            stream += HEARTBEAT;
        }
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let expected: Vec<SseFrame> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| SseFrame { id: Some(index.to_string()), ..data(text) })
            .collect();
        prop_assert_eq!(decode(&chunks), expected);
    }
}
