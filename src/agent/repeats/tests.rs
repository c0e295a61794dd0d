use super::*;

const LIMIT: usize = 8;

/// After how many bytes a text is said to repeat itself, if it is.
fn noticed(text: &str) -> Option<usize> {
    noticed_in(text, text.len().max(1), false)
}

fn noticed_in(text: &str, piece: usize, is_data: bool) -> Option<usize> {
    let mut repeats = Repeats::new(LIMIT);
    let mut from = 0;
    while from < text.len() {
        let to = text.ceil_char_boundary(from + piece);
        if repeats.push(&text[from..to], is_data) {
            return Some(to);
        }
        from = to;
    }
    None
}

const SENTENCE: &str = "The capital of Denmark is Copenhagen, which is a city on the coast of Zealand. ";

#[test]
fn the_same_passage_again_and_again_is_noticed() {
    let paragraph = format!("{SENTENCE}It has many bridges, and people ride bicycles there.\n\n");
    for passage in [
        "Yes. I am sure of it. ",
        SENTENCE,
        &paragraph,
        "我不知道这个问题的答案。",
    ] {
        let looping = format!("A beginning of its own. {}", passage.repeat(400));
        let whole = noticed(&looping);
        assert!(whole.is_some(), "{passage}");
        // Whatever the pieces are: it is noticed as soon as there is enough of it.
        let needed = passage.len() * LIMIT.max((MIN_PASSAGE * LIMIT).div_ceil(passage.chars().count()));
        for piece in [1, 7, 300] {
            let at = noticed_in(&looping, piece, false).expect(passage);
            let late = 2 * INTERVAL.max(needed / INTERVAL_PART);
            assert!(at <= needed + late + piece, "{passage}: {at} > {needed}");
        }
    }
}

#[test]
fn a_passage_with_its_own_repetitions_is_noticed() {
    let passage = format!("{}and then something else was said about it. ", "ha ".repeat(30));
    assert!(noticed(&passage.repeat(50)).is_some());
}

#[test]
fn fewer_repetitions_than_the_limit_are_not() {
    let long: String = (0..9).map(|n| format!("{n}. {SENTENCE}")).collect();
    assert_eq!(noticed(&long.repeat(LIMIT - 1)), None);
    assert!(noticed(&long.repeat(LIMIT + 1)).is_some());
    assert_eq!(noticed(&"ha ha ha ".repeat(60)), None, "laughter");
    assert_eq!(
        noticed(&"We will, we will rock you!\n".repeat(20)),
        None,
        "a refrain"
    );
    let mut off = Repeats::new(0);
    assert!(!off.push(&SENTENCE.repeat(1000), false));
}

#[test]
fn lists_tables_code_and_drawings_are_no_loops() {
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
        assert_eq!(noticed(&text), None, "{what}");
    }
    assert_eq!(
        noticed_in(&SENTENCE.repeat(100), 9, true),
        None,
        "data of a panel"
    );
}

#[test]
fn even_code_does_not_go_on_for_ever() {
    let code = format!("```\n{}", "    x += 1;\n".repeat(3 * REMEMBERED / 12));
    let at = noticed_in(&code, 100, false).expect("it is noticed");
    assert!(at < 2 * REMEMBERED, "{at}");
    assert!(noticed(&"!".repeat(3 * REMEMBERED)).is_some());
}

#[test]
fn words_that_go_on_are_no_loop_behind_code() {
    let text = format!("```\nx\n```\n{}", SENTENCE.repeat(100));
    assert!(noticed(&text).is_some(), "the fence is closed");
    let varied: String = (0..2000)
        .map(|n| format!("Word {n} of a long answer. "))
        .collect();
    assert_eq!(noticed(&varied), None);
}

#[test]
fn only_a_line_of_its_own_is_a_fence() {
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
        for piece in 1..=text.len() {
            let mut fences = Fences::default();
            text.as_bytes().chunks(piece).for_each(|chunk| fences.push(chunk));
            assert_eq!(fences.open.is_some(), is_open, "{text:?}");
        }
    }
    let looping = format!("```a``` is code.\n\n{}", SENTENCE.repeat(100));
    assert!(noticed(&looping).is_some());
}

#[test]
fn a_long_answer_costs_little() {
    // What ends as before all the time is the most work there is.
    let rows = "| 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n".repeat(2 * REMEMBERED / 34);
    let mut repeats = Repeats::new(LIMIT);
    repeats.push(&rows, false);
    assert!(repeats.text.len() <= 2 * REMEMBERED + INTERVAL);
}
