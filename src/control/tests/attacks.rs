//! What looks like control text and is none, and what would hurt if it were believed.

use super::*;

#[test]
fn nothing_in_code_is_control_text() {
    for (before, after) in [
        ("```\ncode\n", "\n```\n"),
        ("```json\n[]\n", ""),
        ("~~~\n```\n", "\n```\n~~~\n"),
        ("````md\n```\n```\n", "\n````\n"),
        ("1. Step:\n\n   ```\n   code\n   ", "\n   ```\n"),
        ("> ```\n> ", "\n"),
        ("Text:\n\n    ", "\n"),
        ("- a\n\n      ", "\n"),
        ("Text `", "` text"),
        ("Text ``` ", " ``` text"),
        ("Text `a\n", "` text"),
        ("\tx\n\t", "\n"),
        ("```\r\ncode\r\n", "\r\n```\r\n"),
    ] {
        for control in [VALUES, SCHEMA, IMITATION, METADATA, SOURCES] {
            // At a line's begin a comment ends the paragraph, and with it what might be a code span.
            if before == "Text `a\n" && control.starts_with('<') {
                continue;
            }
            // A comment over several lines leaves the quote or the item in which it begins.
            assert_text(&format!("{before}{}{after}", control.replace('\n', " ")));
        }
    }
}

#[test]
fn after_code_control_text_is_control_text_again() {
    for before in [
        "```\ncode\n```\n",
        "~~~\n```\n~~~\n",
        "````md\n```\n```\n````\n",
        "1. Step:\n   ```sh\n   x\n   ```\n2. Step\n\n",
        "> ```\n> x\n\n",
        "Use `Vec<T>` or `a | b`.\n",
        "| `a` |\n|---|\n| `b` |\n\n",
        "A ` alone.\n\n",
        "Text:\n\n    code\n\n",
        "Text\n    ",
        "<div>\n\n</div>\n",
    ] {
        let shown = before.trim_end();
        assert_eq!(
            read(&format!("{before}{VALUES}\n")),
            [text(shown), yes()],
            "{before:?}"
        );
    }
}

#[test]
fn a_mention_is_text() {
    for answer in [
        "Write SUGGESTED_VALUES: and a list.",
        "SUGGESTED_VALUES: is the marker.",
        "SUGGESTED_VALUES:",
        "SUGGESTED_VALUES:\n\n- a\n- b\n",
        "SUGGESTED_VALUES",
        "Then SUGGESTED_VALUES: [{\"label\":\"a\",\"value\":\"b\"}]",
        "The marker SCHEMA_PROPOSAL: comes first.",
        "SCHEMA_PROPOSAL: `{\"fields\":[]}`",
        "MY_SCHEMA_PROPOSAL: {\"fields\":[]}",
        "\\SCHEMA_PROPOSAL: {\"fields\":[]}",
        "- SUGGESTED_VALUES: []",
        "> SUGGESTED_VALUES: []",
        "suggested_values: []",
        "<!-- a comment -->",
        "<!-- METADATA -->",
        "<!-- METADATA: none -->",
        "<!-- METADATA: [] -->",
        "**bold** and __bold__ and **",
        "{\"source\": []}",
    ] {
        assert_text(answer);
    }
}

#[test]
fn what_is_of_a_wrong_type_is_released_as_it_came() {
    for answer in [
        "SUGGESTED_VALUES: [1]",
        "SUGGESTED_VALUES: [{\"label\":\"a\"}]  \n\nText.",
        "SUGGESTED_VALUES: {\"label\":\"a\",\"value\":\"b\"}",
        "SUGGESTED_VALUES: [{\"label\":\"a\",\"value\":\"b\"},]",
        "SUGGESTED_ACTIONS: [{\"label\":\"a\",\"action\":\"b\",\"handler\":\"root\"}]",
        "SUGGESTED_VALUES: [\"SCHEMA_PROPOSAL: {}\"]",
        "SCHEMA_PROPOSAL: {\"other\": 1} and on",
        "SCHEMA_PROPOSAL: [\"\\ud800\"]",
        "<!-- METADATA: {\"sources\": [1]} -->",
        "{\"sources\": [{\"title\": \"no address\"}]}",
        "```json\n{\"sources\": 1}\n```\n\n",
    ] {
        assert_text(answer);
    }
}

#[test]
fn what_is_unfinished_is_released_as_it_came_wherever_it_breaks_off() {
    let fenced = format!("SUGGESTED_VALUES:\n```json\n{}\n```", &VALUES[18..]);
    let fenced_sources = format!("```json\n{SOURCES}\n```");
    for control in [
        VALUES,
        SCHEMA,
        IMITATION,
        METADATA,
        SOURCES,
        &fenced,
        &fenced_sources,
    ] {
        // What imitates the history's metadata needs no end: once all of its JSON is there, it is known.
        let known = if control == IMITATION {
            control.find('}')
        } else {
            None
        };
        for (at, _) in control.char_indices() {
            if known.is_some_and(|known| known < at) {
                assert_eq!(read(&format!("Text.\n\n{}", &control[..at])), [text("Text.")]);
                continue;
            }
            assert_eq!(read(&format!("Text.\n\n{}", &control[..at])).len(), 1);
            assert_text(&format!("Text.\n\n{}", &control[..at]));
        }
    }
}

#[test]
fn what_fails_does_not_hide_what_comes_after_it() {
    let begun = "SUGGESTED_VALUES: [{\"label\": oops";
    assert_eq!(read(&format!("{begun}\n{VALUES}")), [text(begun), yes()]);
    assert_eq!(
        read(&format!("SUGGESTED_VALUES:\n\n{VALUES}")),
        [text("SUGGESTED_VALUES:"), yes()]
    );
    assert_eq!(
        read(&format!("<!-- METADATA: {SCHEMA}")),
        [text("<!-- METADATA:"), proposal()]
    );
    assert_eq!(read(&format!("<<!-- {IMITATION}")), [text("<<!--")]);
    assert_eq!(read(&format!("***{SCHEMA}")), [text("***"), proposal()]);
}

#[test]
fn control_text_at_the_limit_is_taken_and_one_byte_more_is_text() {
    let limited = |limit, answer: &str| items(ControlFilter::new(vec![schema()], limit), [answer]);
    assert_eq!(limited(VALUES.len(), VALUES), [yes()]);
    assert_eq!(limited(VALUES.len() - 1, VALUES), [text(VALUES)]);
    assert_eq!(limited(SOURCES.len(), SOURCES), [source_b()]);
    assert_eq!(limited(SOURCES.len() - 1, SOURCES), [text(SOURCES)]);
}

#[test]
fn a_payload_of_300_kb_is_text_and_what_follows_is_read() {
    let long = format!("SCHEMA_PROPOSAL: {{\"fields\":[\"{}\"]}}", "a ".repeat(150_000));
    let items = read(&format!("{long}\n\n{VALUES}"));
    assert!(
        items == [text(&long), yes()],
        "the last is {:?}",
        items.last().map(std::mem::discriminant)
    );
}

#[test]
fn removing_control_text_makes_no_control_text_of_what_is_around_it() {
    let answer = format!("SCHEMA_{SCHEMA}PROPOSAL: {{\"fields\":[]}}");
    assert_text(&answer);
    let answer = format!("MY_{IMITATION}{SCHEMA}");
    assert_eq!(read(&answer), [text(&format!("MY_{SCHEMA}"))]);
    let answer = format!("SUGGESTED_{IMITATION}VALUES: []");
    assert_eq!(read(&answer), [text("SUGGESTED_VALUES: []")]);
}

#[test]
fn markers_without_a_text_are_no_markers() {
    let empty = Marker {
        marker: String::new(),
        ..schema()
    };
    let answer = "{\"fields\":[]}";
    assert_eq!(
        items(ControlFilter::new(vec![empty], DEFAULT_LIMIT), [answer]),
        [text(answer)]
    );
}
