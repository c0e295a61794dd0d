use fuzzing::properties;
use proptest::prelude::*;

use super::*;

const ECHO_COMMENT: &str =
    "<!-- METADATA: {\"timestamp\":\"2024-06-15 14:30 CET\",\"relative_time\":\"3 hours ago\"} -->";
const ECHO_JSON: &str =
    "{\"timestamp\":\"2024-06-15 14:30 CET\",\"relative_time\":\"now\",\"tools_used\":[\"web_search\"]}";

fn text_of(deltas: &[&str]) -> String {
    let mut filter = EchoedMetadata::default();
    let mut text: String = deltas.iter().map(|delta| filter.push(delta)).collect();
    text += &filter.finish();
    text
}

#[test]
fn removes_every_form_of_leading_echo() {
    for (answer, text) in [
        (format!("{ECHO_COMMENT}\nHello"), "Hello"),
        (format!("\n {ECHO_COMMENT}\n\n{ECHO_COMMENT}\nHello"), "Hello"),
        (format!("{ECHO_COMMENT}Hello"), "Hello"),
        (format!("{ECHO_COMMENT}\n\n    code"), "    code"),
        (ECHO_COMMENT.to_owned(), ""),
        (format!("<!--metadata {ECHO_JSON}-->\nHello"), "Hello"),
        (format!("<!-- METADATA:\n{ECHO_JSON}\nHello"), "Hello"),
        (
            "<!-- METADATA: timestamp 14:30, 3 hours ago -->\nHello".to_owned(),
            "Hello",
        ),
        (
            "<!-- METADATA: {\"timestamp\": 14:30} -->\nHello".to_owned(),
            "Hello",
        ),
        (format!("{ECHO_JSON}\nHello"), "Hello"),
        (format!("METADATA: {ECHO_JSON}\n\nHello"), "Hello"),
        ("METADATA: {\"timestamp\": \"14:30\"}\nHello".to_owned(), "Hello"),
    ] {
        assert_eq!(text_of(&[&answer]), text, "{answer}");
    }
}

#[test]
fn keeps_text_that_is_no_echo() {
    for text in [
        "",
        " \n",
        "Hello",
        "  Hello",
        "<b>Hello",
        "<!-- a comment -->",
        "<!-- META",
        "<!-- METADATA -->",
        "<!-- METADATA: none -->",
        "<!-- METADATA: {}",
        "<!-- METADATA are what stands here: -->",
        "METADATA are data about data.",
        "Maybe.",
        "METADATA: {\"a\": 1}",
        "{\"timestamp\": \"2024\", \"level\": \"info\"}",
        "{\"relative_time\": \"soon\"}",
        "{\"timestamp\": \"2024-06-15 14:30\"}",
        "{\"timestamp\": 1718461800, \"files\": [\"a.txt\"]}",
        "{\"name\": 1}",
        "{ \"timestamp\": \"2024",
        "<!-- METADATA: {\"sources\": [{\"title\": \"A\", \"url\": \"https://a.example\"}]} -->",
    ] {
        assert_eq!(text_of(&[text]), text);
    }
    let code = format!("    {ECHO_COMMENT}\n");
    assert_eq!(text_of(&[&code]), code);
    let later = format!("Hello\n{ECHO_COMMENT}");
    assert_eq!(text_of(&[&later]), later, "that is the filter's to take out");
}

#[test]
fn does_not_hold_back_json_answers() {
    let mut filter = EchoedMetadata::default();
    assert_eq!(filter.push("{\"na"), "{\"na");
}

#[test]
fn unterminated_echo_is_text() {
    let endless = format!("<!-- METADATA: {}", "a ".repeat(MAX_ECHO_BYTES));
    assert_eq!(text_of(&[&endless]), endless);
}

properties! {
    256;

    #[test]
    fn result_is_independent_of_chunking(
        which in 0_usize..6,
        rest in "[ \n]{0,2}[a-zA-Z<{\"-]{0,6}",
        cuts in prop::collection::vec(0_usize..120, 0..6),
    ) {
        let begin = [ECHO_COMMENT, ECHO_JSON, "<!-- METADATA: x -->", "METADATA: ", "<!-- METADATA:\n{\"files\": []}", ""][which];
        let answer = format!("{begin}{rest}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| answer.floor_char_boundary(cut)).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        let deltas: Vec<&str> = cuts.windows(2).map(|pair| &answer[pair[0]..pair[1]]).collect();
        prop_assert_eq!(text_of(&deltas), text_of(&[&answer]));
    }
}
