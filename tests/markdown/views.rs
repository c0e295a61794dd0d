//! What our views add to the text.

use parlor::ui::markdown::Prose;

use crate::{html::tokens, render, rendered};

const ANSWER: &str = "# Title\n\nText with **bold**, `code`, [a link](https://a.b \"t\") and a note.[^1]\n\n\
    - [x] done\n- [ ] open\n  1. one\n  2. two\n\n\n\
    ```rust\nfn main() {}\n```\n\n| a | b |\n|:--|--:|\n| 1 | ~~2~~ |\n| 3 |\n\n> quote\n\n---\n\n\
    ![a picture](https://c.d/e.png) <b>raw</b>\n\n<div>\nraw\n</div>\n\n[^1]: the note\n";

/// Our HTML without the comments in it.
fn html(text: &str) -> String {
    let mut out = String::new();
    for part in rendered(text).split("<!") {
        match part.split_once('>') {
            Some((comment, rest)) if comment.is_empty() || comment.starts_with("--") => out.push_str(rest),
            _ => out.push_str(part),
        }
    }
    out
}

#[test]
fn links_open_elsewhere_and_tell_nothing() {
    let link =
        r#"<a href="https://b.c" target="_blank" rel="noopener noreferrer nofollow" class="md-link">a</a>"#;
    assert!(
        html("[a](https://b.c)").contains(link),
        "{}",
        html("[a](https://b.c)")
    );
    assert!(!html("[a](javascript:b)").contains("<a"));
    assert!(!html("<script>alert(1)</script>").contains("<script"));
    assert!(!html("![a](https://b.c/d.png)").contains("<img"));
}

#[test]
fn code_has_its_language_and_a_copy_button() {
    let html = html("```rust ignore\nfn a() {}\n```");
    assert!(
        html.contains(r#"<span class="md-code-language">rust</span>"#),
        "{html}"
    );
    assert!(html.contains(r#"aria-label="Copy code""#), "{html}");
    assert!(html.contains("language-rust"), "{html}");
}

#[test]
fn tables_scroll_in_a_box_of_their_own() {
    let html = html("| a |\n|:-:|\n| b |");
    for part in [
        r#"role="group""#,
        r#"aria-label="Table""#,
        r#"scope="col""#,
        "md-center",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn checkboxes_have_names_and_cannot_be_changed() {
    let html = html("- [x] a\n- [ ] b");
    assert_eq!(html.matches("disabled").count(), 2, "{html}");
    assert_eq!(html.matches("checked").count(), 1, "{html}");
    assert!(
        html.contains(r#"aria-label="Done""#) && html.contains(r#"aria-label="To do""#),
        "{html}"
    );
}

#[test]
fn footnotes_lead_there_and_back() {
    let html = html("a[^1] b[^1] c[^No te]\n\n[^1]: x\n[^no te]: y\n[^1]: z\n");
    for id in ["m-note-1", "m-ref-1", "m-note-note", "m-ref-note"] {
        assert_eq!(
            html.matches(&format!(r#"id="{id}""#)).count(),
            1,
            "{id} in {html}"
        );
        assert!(html.contains(&format!(r##"href="#{id}""##)), "{id} in {html}");
    }
}

#[test]
fn a_message_does_not_compete_with_the_titles_of_the_page() {
    let html = html("# a\n## b\n###### c");
    assert!(!html.contains("<h1") && !html.contains("<h2"), "{html}");
    assert!(html.contains("<h3 class=\"md-h1\">a</h3>"), "{html}");
}

#[test]
fn a_text_that_grew_is_shown_as_one_read_at_once() {
    let json = include_str!("../fixtures/commonmark/examples.json");
    let examples: Vec<serde_json::Value> = serde_json::from_str(json).expect("the fixture is JSON");
    let examples = examples.iter().filter_map(|example| example["markdown"].as_str());
    for (seed, text) in examples.chain([ANSWER]).enumerate() {
        let prose = Prose::new(String::new(), false);
        // It is on the screen from the first word on, and not read as a whole at its end.
        render(&prose);
        let mut rest = text;
        let mut step = seed;
        while !rest.is_empty() {
            step = (step * 7 + 3) % 11;
            let mut at = (1 + step).min(rest.len());
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            prose.append(&rest[..at]);
            rest = &rest[at..];
        }
        prose.finish();
        assert_eq!(tokens(&render(&prose)), tokens(&rendered(text)), "{text:?}");
    }
}

#[test]
fn more_text_after_the_end_is_shown_too() {
    let prose = Prose::finished("a **b");
    render(&prose);
    prose.append("** c");
    prose.finish();
    assert_eq!(render(&prose), rendered("a **b** c"));
}

#[test]
fn no_block_stands_in_a_paragraph() {
    let mut open = Vec::new();
    for token in tokens(&rendered(ANSWER)) {
        match token {
            crate::html::Token::Open(name, _) => {
                let block =
                    ["div", "p", "ul", "ol", "pre", "table", "blockquote", "h3"].contains(&name.as_str());
                assert!(
                    !(block && open.iter().any(|open| open == "p")),
                    "{name} in a paragraph"
                );
                open.push(name);
            }
            crate::html::Token::Close(name) => assert_eq!(open.pop(), Some(name)),
            crate::html::Token::Text(_) => {}
        }
    }
}
