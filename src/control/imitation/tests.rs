use fuzzing::properties;
use proptest::prelude::*;

use super::*;

const BLOCK: &str =
    "<!-- METADATA: {\"timestamp\":\"2024-06-15 14:30 CET\",\"relative_time\":\"3 hours ago\"} -->";
const JSON: &str =
    "{\"timestamp\":\"2024-06-15 14:30 CET\",\"relative_time\":\"now\",\"tools_used\":[\"web_search\"]}";

fn text_of(pieces: &[&str]) -> String {
    let mut imitation = Imitation::default();
    let mut text: String = pieces.iter().map(|piece| imitation.push(piece)).collect();
    text += &imitation.finish();
    text
}

#[test]
fn whatever_it_looks_like_at_the_beginning_it_is_taken_out() {
    for (said, text) in [
        (format!("{BLOCK}\nHello"), "Hello"),
        (format!("\n {BLOCK}\n\n{BLOCK}\nHello"), "Hello"),
        (format!("{BLOCK}Hello"), "Hello"),
        (format!("{BLOCK}\n\n    code"), "    code"),
        (BLOCK.to_owned(), ""),
        (format!("<!--metadata {JSON}-->\nHello"), "Hello"),
        (format!("<!-- METADATA:\n{JSON}\nHello"), "Hello"),
        (
            "<!-- METADATA: timestamp 14:30, 3 hours ago -->\nHello".to_owned(),
            "Hello",
        ),
        (
            "<!-- METADATA: {\"timestamp\": 14:30} -->\nHello".to_owned(),
            "Hello",
        ),
        (format!("{JSON}\nHello"), "Hello"),
        (format!("METADATA: {JSON}\n\nHello"), "Hello"),
        ("METADATA: {\"timestamp\": \"14:30\"}\nHello".to_owned(), "Hello"),
    ] {
        assert_eq!(text_of(&[&said]), text, "{said}");
    }
}

#[test]
fn what_is_something_else_stays_as_it_came() {
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
    let code = format!("    {BLOCK}\n");
    assert_eq!(text_of(&[&code]), code);
    let later = format!("Hello\n{BLOCK}");
    assert_eq!(text_of(&[&later]), later, "that is the filter's to take out");
}

#[test]
fn an_answer_in_json_is_not_held_back() {
    let mut imitation = Imitation::default();
    assert_eq!(imitation.push("{\"na"), "{\"na");
}

#[test]
fn what_never_ends_is_text() {
    let endless = format!("<!-- METADATA: {}", "a ".repeat(LONGEST));
    assert_eq!(text_of(&[&endless]), endless);
}

properties! {
    256;

    #[test]
    fn where_it_was_cut_does_not_matter(
        which in 0_usize..6,
        rest in "[ \n]{0,2}[a-zA-Z<{\"-]{0,6}",
        cuts in prop::collection::vec(0_usize..120, 0..6),
    ) {
        let begin = [BLOCK, JSON, "<!-- METADATA: x -->", "METADATA: ", "<!-- METADATA:\n{\"files\": []}", ""][which];
        let said = format!("{begin}{rest}");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| said.floor_char_boundary(cut)).collect();
        cuts.extend([0, said.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &said[pair[0]..pair[1]]).collect();
        prop_assert_eq!(text_of(&pieces), text_of(&[&said]));
    }
}
