use fuzzing::properties;
use proptest::prelude::*;

use super::*;

/// Returns the thinking and the text of an answer in these deltas.
fn split<'a>(deltas: impl IntoIterator<Item = &'a str>) -> (String, String) {
    let mut filter = ThinkFilter::default();
    let mut events = Vec::new();
    for delta in deltas {
        filter.push(delta, &mut events);
    }
    filter.finish(&mut events);
    let (mut thinking, mut text) = (String::new(), String::new());
    for event in events {
        match event {
            ModelEvent::Thinking(delta) => {
                assert_eq!(text, "", "thinking comes before the text");
                thinking += &delta;
            }
            ModelEvent::TextWasThinking => thinking += &std::mem::take(&mut text),
            ModelEvent::Text(delta) => text += &delta,
            other => panic!("{other:?}"),
        }
    }
    (thinking, text)
}

#[test]
fn reads_only_a_leading_block_as_thinking() {
    for (answer, thinking, text) in [
        ("<think>Hm.</think>Hello", "Hm.", "Hello"),
        ("\n <think>\nHm.\n</think>\n\nHello", "Hm.\n", "Hello"),
        (
            "<thinking>Hm. </think> a </thinking>Hello",
            "Hm. </think> a ",
            "Hello",
        ),
        ("<think>\n\n</think>\n\nHello", "", "Hello"),
        ("<think>Hm", "Hm", ""),
        ("<think>Hm </thin", "Hm </thin", ""),
        ("<think>a < b </ c</think>", "a < b </ c", ""),
        ("<think>1</think><think>2</think>3", "1", "<think>2</think>3"),
        ("Use <think>x</think>.", "", "Use <think>x</think>."),
        ("`<think>`", "", "`<think>`"),
        ("```\n<think>\n```", "", "```\n<think>\n```"),
        ("<thinker>x", "", "<thinker>x"),
        ("<think", "", "<think"),
        ("Hm.\n</think>\n\nHello", "Hm.\n", "Hello"),
        (
            "Hm. `a` b</thinking>Hello </think> you",
            "Hm. `a` b",
            "Hello </think> you",
        ),
        (
            "The tag `</think>` ends it.</think>",
            "",
            "The tag `</think>` ends it.</think>",
        ),
        ("```\n</think>\n```\n", "", "```\n</think>\n```\n"),
        ("```\na\n```\nb</think>c", "```\na\n```\nb", "c"),
        ("a < b </ c </thin", "", "a < b </ c </thin"),
        // Also without text behind it.
        ("Hm.\n</think>", "Hm.\n", ""),
        ("Say \"Hi\"</think>Hi", "Say \"Hi\"", "Hi"),
        ("42</think>42", "42", "42"),
        ("Done. </think>\nHi", "Done. ", "Hi"),
        ("It ends with </think> then.", "", "It ends with </think> then."),
        ("It ends with </think>", "", "It ends with </think>"),
        ("The tag (</think>) ends it.", "", "The tag (</think>) ends it."),
        ("The \"</think>\" tag.", "", "The \"</think>\" tag."),
        (
            "The last tag,\n</think>, ends it.",
            "",
            "The last tag,\n</think>, ends it.",
        ),
        ("``a ` </think>`` b", "", "``a ` </think>`` b"),
        ("~~~\n</think>\n~~~\n", "", "~~~\n</think>\n~~~\n"),
        ("```a``` b\n</think>\nc", "```a``` b\n", "c"),
        ("  ", "", "  "),
        ("", "", ""),
    ] {
        assert_eq!(split([answer]), (thinking.into(), text.into()), "{answer:?}");
    }
}

#[test]
fn thinking_may_be_one_long_paragraph() {
    let thinking = "A line of a long thought.\n".repeat(5 * MAX_CODE_CONTEXT_BYTES / 26);
    let answer = format!("{thinking}</think>\n\nHi");
    assert_eq!(split(answer.split_inclusive('\n')), (thinking, "Hi".into()));
}

#[test]
fn limits_held_white_space() {
    let mut filter = ThinkFilter::default();
    let mut events = Vec::new();
    for _ in 0..=MAX_INDENT_BYTES {
        filter.push(" ", &mut events);
    }
    assert_eq!(events, [ModelEvent::Text(" ".repeat(MAX_INDENT_BYTES + 1))]);
}

#[test]
fn ignores_tags_with_separate_thinking() {
    let answer = "It thinks.\n</think>\n\nSo.";
    for cut in 0..=15 {
        let (mut filter, mut events) = (ThinkFilter::default(), Vec::new());
        filter.push(&answer[..cut], &mut events);
        filter.set_separate_thinking();
        filter.push(&answer[cut..], &mut events);
        filter.finish(&mut events);
        let text: String = events
            .iter()
            .map(|event| match event {
                ModelEvent::Text(text) => text.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(text, answer, "{cut}");
    }
}

properties! {
    256;

    #[test]
    fn keeps_text_that_mentions_a_tag(
        words in "[a-z]{1,6}( [a-z]{1,6}){0,4}",
        mention in prop::sample::select(vec![
            "`</think>`", "``</think>``", "\"</think>\"", "(</think>)", "“</think>”", "</think> tag",
            "</think>.", "</think>, the tag,", "\n```\n</think>\n```\n", "\n~~~xml\na</think>\n\n</think>\n~~~\n",
            "\n\n    </think>\n",
        ]),
        more in "( [a-z]{1,6}){0,4}(\n</think>\n\nb)?",
    ) {
        let answer = format!("{words} {mention}{more}");
        prop_assert_eq!(split([answer.as_str()]), (String::new(), answer));
    }

    #[test]
    fn finds_thinking_without_opening_tag(
        thinking in "[a-z \n.,]{0,20}[a-z.!]",
        closing in prop::sample::select(vec!["</think>", "\n</think>\n\n", "\n</thinking>\n"]),
        text in "[a-zA-Z*#\"(!]{1}[a-z \n.,`<>/]{0,20}",
    ) {
        let answer = format!("{thinking}{closing}{text}");
        let is_code = |line: &str| line.starts_with("    ");
        prop_assume!(!thinking.lines().any(is_code) && thinking.chars().last() != text.chars().next());
        prop_assert_eq!(split([answer.as_str()]), (
            format!("{thinking}{}", closing.split_once('<').map_or("", |(before, _)| before)),
            text,
        ));
    }

    #[test]
    fn result_is_independent_of_chunking(
        answer in "(\n| )?(<think>|<thinking>)?[a<>/`.\u{e9} \n]{0,8}(</think>|</thinking>)?[thinkg<>/`., \n]{0,12}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let characters: Vec<char> = answer.chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(characters.len() + 1)).collect();
        cuts.extend([0, characters.len()]);
        cuts.sort_unstable();
        let deltas: Vec<String> =
            cuts.windows(2).map(|pair| characters[pair[0]..pair[1]].iter().collect()).collect();
        prop_assert_eq!(split(deltas.iter().map(String::as_str)), split([answer.as_str()]));
    }
}
