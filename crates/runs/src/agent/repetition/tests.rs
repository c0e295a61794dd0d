use super::*;

const LIMIT: usize = 8;

/// Returns the number of bytes after which repetition is detected.
fn detected_after(text: &str) -> Option<usize> {
    detected_after_in_deltas(text, text.len().max(1), false)
}

fn detected_after_in_deltas(text: &str, delta: usize, is_data: bool) -> Option<usize> {
    let mut repeats = RepetitionDetector::new(LIMIT);
    let mut from = 0;
    while from < text.len() {
        let to = text.ceil_char_boundary(from + delta);
        if repeats.push(&text[from..to], is_data) {
            return Some(to);
        }
        from = to;
    }
    None
}

const SENTENCE: &str = "The capital of Denmark is Copenhagen, which is a city on the coast of Zealand. ";

#[test]
fn detects_a_repeated_passage() {
    let paragraph = format!("{SENTENCE}It has many bridges, and people ride bicycles there.\n\n");
    for passage in [
        "Yes. I am sure of it. ",
        SENTENCE,
        &paragraph,
        "我不知道这个问题的答案。",
    ] {
        let looping = format!("A beginning of its own. {}", passage.repeat(400));
        let whole = detected_after(&looping);
        assert!(whole.is_some(), "{passage}");
        // Detection does not depend on the deltas: it occurs as soon as there is enough text.
        let needed = passage.len() * LIMIT.max((MIN_PASSAGE_CHARS * LIMIT).div_ceil(passage.chars().count()));
        for delta in [1, 7, 300] {
            let at = detected_after_in_deltas(&looping, delta, false).expect(passage);
            let late = 2 * MIN_CHECK_INTERVAL_BYTES.max(needed / CHECK_INTERVAL_DIVISOR);
            assert!(at <= needed + late + delta, "{passage}: {at} > {needed}");
        }
    }
}

#[test]
fn detects_a_passage_with_inner_repetition() {
    let passage = format!("{}and then something else was said about it. ", "ha ".repeat(30));
    assert!(detected_after(&passage.repeat(50)).is_some());
}

#[test]
fn ignores_repetitions_below_the_limit() {
    let long: String = (0..9).map(|n| format!("{n}. {SENTENCE}")).collect();
    assert_eq!(detected_after(&long.repeat(LIMIT - 1)), None);
    assert!(detected_after(&long.repeat(LIMIT + 1)).is_some());
    assert_eq!(detected_after(&"ha ha ha ".repeat(60)), None, "laughter");
    assert_eq!(
        detected_after(&"We will, we will rock you!\n".repeat(20)),
        None,
        "a refrain"
    );
    let mut off = RepetitionDetector::new(0);
    assert!(!off.push(&SENTENCE.repeat(1000), false));
}

#[test]
fn ignores_lists_tables_code_and_drawings() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String { (1..=count).map(line).collect() };
    let cases = [
        (
            "a numbered list",
            lines(300, &|n| format!("{n}. Write \"I will not talk in class\".\n")),
        ),
        (
            "a table",
            lines(300, &|_| "| open | open | open | closed |\n".into()),
        ),
        (
            "a table of numbers",
            lines(500, &|n| format!("| {n} | 0 | 0 | 0 | 0 |\n")),
        ),
        (
            "code in a fence",
            format!(
                "```rust\n{}```\n",
                lines(300, &|_| "    print(\"hello world again\");\n".into())
            ),
        ),
        (
            "code in tildes",
            format!("~~~\n{}~~~\n", lines(300, &|_| "the words of a file\n".into())),
        ),
        (
            "zeros",
            lines(200, &|_| {
                "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,\n".into()
            }),
        ),
        ("a rule", "=".repeat(5000)),
        ("a drawing", lines(100, &|_| format!("|{}|\n", " *".repeat(30)))),
        (
            "a chessboard",
            lines(100, &|_| "# . # . # . # .\n. # . # . # . #\n".into()),
        ),
        ("base64", "A".repeat(20_000)),
        ("a sequence", "ACGT".repeat(2000)),
        ("rows of JSON", lines(200, &|_| "[1, \"a\", null], ".into())),
    ];
    for (what, text) in cases {
        assert_eq!(detected_after(&text), None, "{what}");
    }
    assert_eq!(
        detected_after_in_deltas(&SENTENCE.repeat(100), 9, true),
        None,
        "data of a panel"
    );
}

#[test]
fn detects_endless_code() {
    let code = format!("```\n{}", "    x += 1;\n".repeat(3 * MAX_TAIL_BYTES / 12));
    let at = detected_after_in_deltas(&code, 100, false).expect("it is noticed");
    assert!(at < 2 * MAX_TAIL_BYTES, "{at}");
    assert!(detected_after(&"!".repeat(3 * MAX_TAIL_BYTES)).is_some());
}

#[test]
fn ignores_prose_after_code() {
    let text = format!("```\nx\n```\n{}", SENTENCE.repeat(100));
    assert!(detected_after(&text).is_some(), "the fence is closed");
    let varied: String = (0..2000)
        .map(|n| format!("Word {n} of a long answer. "))
        .collect();
    assert_eq!(detected_after(&varied), None);
}

#[test]
fn fence_needs_its_own_line() {
    for (text, is_open) in [
        ("```rust\n", true),
        ("```a``` is code.\n", false),
        ("It is ```a\n", false),
        ("```\na ```\n", true),
        ("```\n```a\n", true),
        ("```\n``` \r\n", false),
        ("````\n```\n", true),
        ("```\n~~~\n", true),
        ("~~~ `a`\n", true),
        ("``\n", false),
    ] {
        for delta in 1..=text.len() {
            let mut fences = FenceTracker::default();
            text.as_bytes().chunks(delta).for_each(|chunk| fences.push(chunk));
            assert_eq!(fences.open_fence.is_some(), is_open, "{text:?}");
        }
    }
    let looping = format!("```a``` is code.\n\n{}", SENTENCE.repeat(100));
    assert!(detected_after(&looping).is_some());
}

#[test]
fn cost_is_linear_in_answer_length() {
    // The most expensive text: its ending always occurs earlier.
    let rows = "| 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n".repeat(2 * MAX_TAIL_BYTES / 34);
    let mut repeats = RepetitionDetector::new(LIMIT);
    repeats.push(&rows, false);
    assert!(repeats.text.len() <= 2 * MAX_TAIL_BYTES + MIN_CHECK_INTERVAL_BYTES);
}
