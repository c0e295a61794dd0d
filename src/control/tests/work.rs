//! However an answer is made, it costs time in proportion to its length, and memory in proportion to the limit.

use super::super::shown::{CODE_CONTEXT, MAX_PARSED};
use super::*;

/// Long enough for all limits to matter several times.
const LENGTH: usize = 1 << 17;

const LIMIT: usize = LENGTH / 8;

/// Answers that make a filter look again, hold back or ask what is code.
fn answers() -> Vec<String> {
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
fn the_work_is_in_proportion_to_the_answer() {
    for answer in answers() {
        let mut filter = ControlFilter::new(vec![schema()], LIMIT);
        let mut most_held = 0;
        let mut out = Vec::new();
        for piece in answer.as_bytes().chunks(LENGTH / 16) {
            filter.push(std::str::from_utf8(piece).expect("it is ASCII"), &mut out);
            most_held = most_held.max(filter.held_bytes());
        }
        filter.finish(&mut out);
        let begin: String = answer.chars().take(30).collect();
        let length = answer.len() as u64;
        assert!(
            filter.looked_at <= 3 * length,
            "{begin:?}: {} looks",
            filter.looked_at
        );
        let (base, each) = MAX_PARSED;
        let asked = filter.shown.parsed;
        let most = base + each * length + 3 * CODE_CONTEXT as u64;
        assert!(asked <= most, "{begin:?}: {asked} bytes parsed to ask");
        let followed = filter.shown.code.parsed_bytes() - asked;
        assert!(
            followed <= 6 * length,
            "{begin:?}: {followed} bytes parsed to follow"
        );
        let most = 2 * LIMIT + 3 * CODE_CONTEXT;
        assert!(most_held <= most, "{begin:?}: {most_held} bytes held");
    }
}

#[test]
fn a_long_answer_in_code_still_ends_with_its_suggestions() {
    let code = "```\n".to_owned()
        + &"let SCHEMA = \"SCHEMA_PROPOSAL:\";\n".repeat(100)
        + &"x\n".repeat(100_000)
        + "```";
    assert_eq!(read(&format!("{code}\n\n{VALUES}")), [text(&code), yes()]);
    let list = "1. One:\n\n   ```sh\n   x\n   ```\n".repeat(5_000);
    assert_eq!(
        read(&format!("{list}\n\n{VALUES}")),
        [text(list.trim_end()), yes()]
    );
}
