//! Limits of time and memory for any answer: time is linear in its length, memory in the limit.

use super::super::visible_text::{MAX_CODE_CONTEXT_BYTES, MAX_PARSED_BYTES};
use super::*;

/// Long enough to reach all limits several times.
const LENGTH: usize = 1 << 17;

const LIMIT: usize = LENGTH / 8;

/// Answers that cause repeated checks, held text and code detection.
fn expensive_answers() -> Vec<String> {
    let repeated = |text: &str| text.repeat(LENGTH / text.len());
    vec![
        repeated("SUGG"),
        repeated("\nSUGG"),
        repeated("SUGGESTED_VALUES: [\n"),
        repeated("\nSUGGESTED_VALUES: [{\"label\":"),
        repeated("SUGGESTED_VALUES: []\n"),
        repeated("SCHEMA_PROPOSAL: "),
        repeated("SCHEMA_PROPOSAL: {\"a\":\""),
        repeated("SCHEMA_PROPOSAL: {} "),
        repeated("<!-- METADATA:"),
        repeated("\n<!-- METADATA: timestamp"),
        repeated("\n\n<!-- METADATA: x"),
        repeated("\n<!-- METADATA: timestamp -->"),
        repeated("\n<!-- METADATA: {\"timestamp\": 1}\n"),
        repeated("<!--  "),
        repeated("<!-- METADATA: {} -->"),
        repeated("{\"sources\": [\n"),
        repeated("{\"sources\": []}\n"),
        repeated("```json\n{"),
        repeated("```\n"),
        repeated("`"),
        repeated("` SCHEMA_PROPOSAL: {}"),
        repeated("*"),
        repeated("**SUGGESTED_VALUES**"),
        repeated("["),
        repeated(" "),
        repeated("\n"),
        repeated("> "),
        repeated("- "),
        repeated("- item\n"),
        repeated("| a "),
        "SCHEMA_PROPOSAL: ".to_owned() + &repeated("["),
        "SCHEMA_PROPOSAL: [\"".to_owned() + &repeated("a"),
        "```\n".to_owned() + &repeated("SCHEMA_PROPOSAL: {\"fields\":[]}\n"),
    ]
}

#[test]
fn work_is_linear_in_answer_length() {
    for answer in expensive_answers() {
        let mut filter = ControlFilter::new(vec![schema_marker()], LIMIT);
        let mut most_held = 0;
        let mut out = Vec::new();
        for delta in answer.as_bytes().chunks(LENGTH / 16) {
            filter.push(std::str::from_utf8(delta).expect("it is ASCII"), &mut out);
            most_held = most_held.max(filter.held_bytes());
        }
        filter.finish(&mut out);
        let begin: String = answer.chars().take(30).collect();
        let length = answer.len() as u64;
        assert!(
            filter.char_visits <= 3 * length,
            "{begin:?}: {} looks",
            filter.char_visits
        );
        let (base, each) = MAX_PARSED_BYTES;
        let parsed = filter.visible.parsed_bytes;
        let max_work = base + each * length + 3 * MAX_CODE_CONTEXT_BYTES as u64;
        assert!(parsed <= max_work, "{begin:?}: {parsed} bytes parsed to ask");
        let followed = filter.visible.code.parsed_bytes() - parsed;
        assert!(
            followed <= 6 * length,
            "{begin:?}: {followed} bytes parsed to follow"
        );
        let max_work = 2 * LIMIT + 3 * MAX_CODE_CONTEXT_BYTES;
        assert!(most_held <= max_work, "{begin:?}: {most_held} bytes held");
    }
}

#[test]
fn reads_suggestions_after_long_code() {
    let code = "```\n".to_owned()
        + &"let SCHEMA = \"SCHEMA_PROPOSAL:\";\n".repeat(100)
        + &"x\n".repeat(100_000)
        + "```";
    assert_eq!(
        filtered(&format!("{code}\n\n{VALUES}")),
        [text(&code), yes_value()]
    );
    let list = "1. One:\n\n   ```sh\n   x\n   ```\n".repeat(5_000);
    assert_eq!(
        filtered(&format!("{list}\n\n{VALUES}")),
        [text(list.trim_end()), yes_value()]
    );
}
