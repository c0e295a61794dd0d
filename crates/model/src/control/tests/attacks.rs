//! Text that only resembles control text, and control text that would do harm if trusted.

use super::*;

#[test]
fn ignores_control_text_in_code() {
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
        for control in [VALUES, SCHEMA, ECHO, METADATA, SOURCES] {
            // A comment at the beginning of a line ends the paragraph, and with it a possible code span.
            if before == "Text `a\n" && control.starts_with('<') {
                continue;
            }
            // A comment over several lines leaves the quote or the item in which it begins.
            assert_all_text(&format!("{before}{}{after}", control.replace('\n', " ")));
        }
    }
}

#[test]
fn reads_control_text_after_code() {
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
            filtered(&format!("{before}{VALUES}\n")),
            [text(shown), yes_value()],
            "{before:?}"
        );
    }
}

#[test]
fn mention_stays_text() {
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
        assert_all_text(answer);
    }
}

#[test]
fn releases_text_of_wrong_type() {
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
        assert_all_text(answer);
    }
}

#[test]
fn releases_unfinished_text_at_any_cut() {
    let fenced = format!("SUGGESTED_VALUES:\n```json\n{}\n```", &VALUES[18..]);
    let fenced_sources = format!("```json\n{SOURCES}\n```");
    for control in [VALUES, SCHEMA, ECHO, METADATA, SOURCES, &fenced, &fenced_sources] {
        // Echoed metadata need no end: they are identified once their JSON is complete.
        let known = if control == ECHO { control.find('}') } else { None };
        for (at, _) in control.char_indices() {
            if known.is_some_and(|known| known < at) {
                assert_eq!(filtered(&format!("Text.\n\n{}", &control[..at])), [text("Text.")]);
                continue;
            }
            assert_eq!(filtered(&format!("Text.\n\n{}", &control[..at])).len(), 1);
            assert_all_text(&format!("Text.\n\n{}", &control[..at]));
        }
    }
}

#[test]
fn reads_control_text_after_a_failure() {
    let begun = "SUGGESTED_VALUES: [{\"label\": oops";
    assert_eq!(
        filtered(&format!("{begun}\n{VALUES}")),
        [text(begun), yes_value()]
    );
    assert_eq!(
        filtered(&format!("SUGGESTED_VALUES:\n\n{VALUES}")),
        [text("SUGGESTED_VALUES:"), yes_value()]
    );
    assert_eq!(
        filtered(&format!("<!-- METADATA: {SCHEMA}")),
        [text("<!-- METADATA:"), proposal()]
    );
    assert_eq!(filtered(&format!("<<!-- {ECHO}")), [text("<<!--")]);
    assert_eq!(filtered(&format!("***{SCHEMA}")), [text("***"), proposal()]);
}

#[test]
fn accepts_control_text_up_to_the_limit() {
    let limited = |limit, answer: &str| items(ControlFilter::new(vec![schema_marker()], limit), [answer]);
    assert_eq!(limited(VALUES.len(), VALUES), [yes_value()]);
    assert_eq!(limited(VALUES.len() - 1, VALUES), [text(VALUES)]);
    assert_eq!(limited(SOURCES.len(), SOURCES), [source_b()]);
    assert_eq!(limited(SOURCES.len() - 1, SOURCES), [text(SOURCES)]);
}

#[test]
fn oversized_payload_stays_text() {
    let long = format!("SCHEMA_PROPOSAL: {{\"fields\":[\"{}\"]}}", "a ".repeat(150_000));
    let items = filtered(&format!("{long}\n\n{VALUES}"));
    assert!(
        items == [text(&long), yes_value()],
        "the last is {:?}",
        items.last().map(std::mem::discriminant)
    );
}

#[test]
fn removal_does_not_join_new_control_text() {
    let answer = format!("SCHEMA_{SCHEMA}PROPOSAL: {{\"fields\":[]}}");
    assert_all_text(&answer);
    let answer = format!("MY_{ECHO}{SCHEMA}");
    assert_eq!(filtered(&answer), [text(&format!("MY_{SCHEMA}"))]);
    let answer = format!("SUGGESTED_{ECHO}VALUES: []");
    assert_eq!(filtered(&answer), [text("SUGGESTED_VALUES: []")]);
}

#[test]
fn ignores_empty_markers() {
    let empty = Marker {
        marker: String::new(),
        ..schema_marker()
    };
    let answer = "{\"fields\":[]}";
    assert_eq!(
        items(
            ControlFilter::new(vec![empty], DEFAULT_MAX_CONTROL_BYTES),
            [answer]
        ),
        [text(answer)]
    );
}
