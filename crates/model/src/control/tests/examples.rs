//! Answers in the formats that models write.

use super::*;

#[test]
fn removes_suggestions_at_the_end() {
    assert_eq!(
        filtered(&format!("Shall I?\n\n{VALUES}\n")),
        [text("Shall I?"), yes_value()]
    );
    assert_eq!(filtered(VALUES), [yes_value()]);
    assert_eq!(filtered(&format!("\n  {VALUES}")), [yes_value()]);
}

#[test]
fn keeps_paragraphs_apart_around_suggestions() {
    assert_eq!(
        filtered(&format!("One.\n\n{VALUES}\n\nTwo.\n")),
        [text("One."), yes_value(), text("\n\nTwo.\n")]
    );
    assert_eq!(
        filtered(&format!("One.\r\n{VALUES}\r\n\r\n    code\r\n")),
        [text("One."), yes_value(), text("\r\n\r\n    code\r\n")]
    );
    assert_eq!(
        filtered(&format!("{VALUES}\n\nTwo.")),
        [yes_value(), text("Two.")]
    );
}

#[test]
fn accepts_bold_markers_and_fenced_json() {
    let list = "[\n  {\"label\": \"Yes\",\n   \"value\": \"yes\"}\n]";
    for answer in [
        format!("**SUGGESTED_VALUES:** {list}"),
        format!("**SUGGESTED_VALUES**: {list}"),
        format!("__SUGGESTED_VALUES:__\n\n{list}"),
        format!("SUGGESTED_VALUES:\n```json\n{list}\n```"),
        format!("SUGGESTED_VALUES: ```\n{list}```"),
        format!("SUGGESTED_VALUES:\r\n````json\r\n{list}\r\n````\r\n"),
        format!("SUGGESTED_VALUES:{list}"),
    ] {
        assert_eq!(filtered(&answer), [yes_value()], "{answer}");
    }
}

#[test]
fn accepts_brackets_escapes_and_newlines_in_strings() {
    let answer = "SUGGESTED_VALUES: [{\"label\":\"]}\\\" \\\\\",\"value\":\"two\nlines, \\u00e9 {[\"}]";
    assert_eq!(filtered(answer), [values("]}\" \\", "two\nlines, é {[")]);
}

#[test]
fn reads_actions_with_handler_data_and_style() {
    let answer = r#"SUGGESTED_ACTIONS: [
        {"label": "Apply", "action": "apply", "handler": "server", "data": {"id": 12, "weight": 0.5}, "style": "primary"},
        {"label": "Close", "action": "close_chat", "handler": "client", "data": null, "icon": "x"},
        {"label": "Drop", "action": "drop", "handler": "client", "style": "warning"},
        {"label": "Odd", "action": "odd", "handler": "client", "style": "rainbow"}
    ]"#;
    let action = |label: &str, action: &str, handler, data: Option<&str>, style| SuggestedAction {
        label: label.into(),
        action: action.into(),
        handler,
        data: data.map(str::to_owned),
        style,
        taken: false,
    };
    let (client, secondary) = (ActionHandler::Client, ActionStyle::Secondary);
    let apply = Some(r#"{"id":12,"weight":0.5}"#);
    assert_eq!(
        filtered(answer),
        [Item::Actions(vec![
            action(
                "Apply",
                "apply",
                ActionHandler::Server,
                apply,
                ActionStyle::Primary
            ),
            action("Close", "close_chat", client, None, secondary),
            action("Drop", "drop", client, None, ActionStyle::Warning),
            action("Odd", "odd", client, None, secondary),
        ])]
    );
}

#[test]
fn removes_an_inline_payload() {
    assert_eq!(
        filtered(&format!("Here's my proposal: {SCHEMA} What do you think?")),
        [
            text("Here's my proposal:"),
            proposal(),
            text(" What do you think?")
        ]
    );
    assert_eq!(
        filtered(&format!("See ({SCHEMA}).")),
        [text("See ("), proposal(), text(").")]
    );
    assert_eq!(
        filtered(&format!("See: **SCHEMA_PROPOSAL:** {}", &SCHEMA[17..])),
        [text("See:"), proposal()]
    );
}

#[test]
fn keeps_payloads_and_suggestions_in_order() {
    let second = r#"SCHEMA_PROPOSAL: {"fields":[]}"#;
    let no = VALUES.replace("es\"", "o\"");
    let answer = format!("{SCHEMA}\n{VALUES}\n{second}\n{no}");
    let kind = "schema_proposal".into();
    let data = json!({"fields": []});
    let raw = String::new();
    assert_eq!(
        filtered(&answer),
        [
            proposal(),
            yes_value(),
            Item::Payload { kind, data, raw },
            values("Yo", "yo")
        ]
    );
}

#[test]
fn reads_both_source_spellings_once() {
    for (end, sources) in [
        (METADATA.to_owned(), source_a()),
        (METADATA.replace('\n', " "), source_a()),
        (METADATA.replace('\n', ""), source_a()),
        (METADATA.replace('\n', "\r\n"), source_a()),
        (SOURCES.to_owned(), source_b()),
        (format!("```json\n{SOURCES}\n```\n"), source_b()),
        (format!("```\r\n{SOURCES}\r\n```"), source_b()),
        (format!("{METADATA}\n\n{SOURCES}\n"), source_a()),
        (format!("{SOURCES}\n{METADATA}\n"), source_a()),
        (format!("```json\n{SOURCES}\n```\n{METADATA}"), source_a()),
    ] {
        assert_eq!(
            filtered(&format!("It is so.\n\n{end}")),
            [text("It is so."), sources],
            "{end}"
        );
    }
}

#[test]
fn reads_sources_and_suggestions_in_any_order() {
    let answer = format!("Yes.\n\n{SOURCES}\n\n{VALUES}\n");
    assert_eq!(filtered(&answer), [text("Yes."), yes_value(), source_b()]);
    let answer = format!("Yes.\n\n{VALUES}\n\n{SOURCES}\n");
    assert_eq!(filtered(&answer), [text("Yes."), yes_value(), source_b()]);
}

#[test]
fn reads_plain_json_sources_only_at_end() {
    for answer in [
        format!("{SOURCES}\n\nThat was it.\n"),
        format!("Like so:\n\n```json\n{SOURCES}\n```\n\nor so:\n\n```json\n{{}}\n```\n"),
        format!("As in {SOURCES}"),
    ] {
        assert_all_text(&answer);
    }
    assert_eq!(
        filtered(&format!("{SOURCES}\n\n{VALUES}\n\nThat was it.\n{SOURCES}")),
        [
            yes_value(),
            text(&format!("{SOURCES}\n\nThat was it.")),
            source_b()
        ]
    );
    assert_eq!(
        filtered(&format!("{SOURCES}\n{SOURCES}")),
        [text(SOURCES), source_b()]
    );
}

#[test]
fn removes_echoed_metadata() {
    assert_eq!(filtered(&format!("{ECHO}\nHello.")), [text("Hello.")]);
    assert_eq!(
        filtered(&format!("{ECHO} Hello.\n\n{METADATA}")),
        [text("Hello."), source_a()]
    );
    assert_eq!(filtered(&format!("Hello.{ECHO}\n")), [text("Hello.")]);
    assert_eq!(
        filtered(&format!(
            "One.\n{}\nTwo.",
            ECHO.replace("timestamp", "tools_used")
        )),
        [text("One.\nTwo.")]
    );
}

#[test]
fn removes_malformed_echoes_at_line_start() {
    let words = "<!-- METADATA: timestamp 14:30 -->";
    for echo in [
        words,
        "<!-- metadata: timestamp 14:30 -->",
        "<!-- METADATA:\ntimestamp: 14:30\n-->",
        "<!-- METADATA: {\"timestamp\": 14:30} -->",
    ] {
        assert_eq!(
            filtered(&format!("One.\n\n{echo}\n\nTwo.")),
            [text("One.\n\nTwo.")],
            "{echo}"
        );
        assert_eq!(
            filtered(&format!("One.\n{echo}\n{VALUES}")),
            [text("One."), yes_value()],
            "{echo}"
        );
    }
    assert_eq!(
        filtered("One.\n<!-- METADATA: {\"timestamp\": \"14:30\"}\nTwo."),
        [text("One.\nTwo.")]
    );
    assert_eq!(
        filtered("One.\n<!-- METADATA: {\"timestamp\": \"14:30\"}"),
        [text("One.")]
    );
    for answer in [
        format!("One {words}"),
        format!("```\n{words}\n```"),
        format!("One.\n\n    {words}\n"),
        "One.\n<!-- METADATA: none -->\nTwo.".to_owned(),
        "One.\n<!-- METADATA: timestamp".to_owned(),
        format!("One.\n<!-- METADATA: timestamp {}-->", "x ".repeat(1000)),
        "One.\n<!-- METADATA: timestamp\n\nTwo. -->".to_owned(),
    ] {
        assert_all_text(&answer);
    }
    // A comment of another kind does not hide the control text in it.
    assert_eq!(
        filtered(&format!("One.\n<!-- METADATA: this\n{VALUES}\n")),
        [text("One.\n<!-- METADATA: this"), yes_value()]
    );
}

#[test]
fn keeps_metadata_text_if_none_was_shown() {
    let unknowing = |answer: &str| {
        let mut filter = filter();
        filter.disable_metadata();
        items(filter, [answer])
    };
    let json = r#"{"timestamp":"2024-06-15 14:30 CET","relative_time":"3 hours ago"}"#;
    for answer in [
        json,
        "<!-- METADATA: timestamp 14:30 -->",
        "One.\n<!-- METADATA: timestamp -->",
    ] {
        assert_eq!(unknowing(answer), [text(answer)]);
    }
    assert_eq!(filtered(json), []);
    assert_eq!(
        unknowing(&format!("Yes.\n{METADATA}")),
        [text("Yes."), source_a()]
    );
}

#[test]
fn removes_metadata_in_the_middle() {
    assert_eq!(
        filtered(&format!("One.\n\n{METADATA}\n\nTwo.")),
        [text("One."), source_a(), text("\n\nTwo.")]
    );
}

#[test]
fn truncates_long_lists_and_entries() {
    let entry = |label: &str| json!({"label": label, "value": "v"});
    let many: Vec<_> = (0..20).map(|index| entry(&index.to_string())).collect();
    let Some(Item::Values(kept)) = filtered(&format!("SUGGESTED_VALUES: {}", json!(many))).pop() else {
        panic!("there are values");
    };
    let labels: Vec<_> = kept.iter().map(|value| value.label.as_str()).collect();
    assert_eq!(
        labels,
        ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
    );

    let longest = "é".repeat(parse::MAX_LABEL_CHARS);
    let list = json!([entry(&(longest.clone() + "x")), entry(&longest), entry(" ")]);
    assert_eq!(
        filtered(&format!("SUGGESTED_VALUES: {list}")),
        [values(&longest, "v")]
    );
    assert_eq!(filtered("SUGGESTED_VALUES: []"), [Item::Values(Vec::new())]);
}

#[test]
fn releases_text_as_soon_as_possible() {
    let mut filter = filter();
    for (delta, given) in [
        ("Hello", "Hello"),
        (", wor", ", wor"),
        ("ld. ", "ld."),
        ("S", ""),
        ("o", " So"),
        ("\n", ""),
        ("SUGG", ""),
        ("EST", ""),
        ("S", "\nSUGGESTS"),
        (" <", ""),
        ("!-- a", " <!-- a"),
        ("\n[", "\n["),
        ("\n{", ""),
        ("\"a", "\n{\"a"),
        ("\nSUGGESTED_VALUES: ", ""),
        ("t", "\nSUGGESTED_VALUES: t"),
        ("\nSUGGESTED_VALUES: [{\"la", ""),
        ("bel\": x", "\nSUGGESTED_VALUES: [{\"label\": x"),
        ("\n```", ""),
        ("rust", "\n```rust"),
        ("\nSUGGESTED_VALUES: [", "\nSUGGESTED_VALUES: ["),
    ] {
        let mut out = Vec::new();
        filter.push(delta, &mut out);
        let expected: Vec<_> = Some(given)
            .filter(|given| !given.is_empty())
            .map(text)
            .into_iter()
            .collect();
        assert_eq!(out, expected, "after {delta:?}");
    }
}

#[test]
fn continued_answer_keeps_line_context() {
    let continued = |before: &str, answer: &str| {
        let mut filter = filter();
        filter.continue_from(before);
        items(filter, [answer])
    };
    assert_eq!(continued("Text.\n", VALUES), [yes_value()]);
    assert_eq!(continued("Text. ", VALUES), [text(VALUES)]);
    assert_eq!(continued("```\n", VALUES), [text(VALUES)]);
    let echo = "<!-- METADATA: timestamp 14:30 -->";
    assert_eq!(continued("The sk", &format!("{echo}\ny.")), [text("y.")]);
    assert_eq!(continued("The sky.\n\n", &format!("{echo}\nIt")), [text("It")]);
    assert_eq!(continued("```\n", echo), [text(echo)]);
    assert_eq!(continued("MY_", SCHEMA), [text(SCHEMA)]);
    assert_eq!(
        continued("Text.", &format!("\n\n{VALUES}\n\nMore.")),
        [yes_value(), text("\n\nMore.")]
    );
}
