//! The additions of our views to the text.

use parlor_ui::markdown::Prose;

use crate::{html::tokenize, render, render_text};

const SAMPLE_ANSWER: &str = "# Title\n\nText with **bold**, `code`, [a link](https://a.b \"t\") and a note.[^1]\n\n\
    - [x] done\n- [ ] open\n  1. one\n  2. two\n\n\n\
    ```rust\nfn main() {}\n```\n\n| a | b |\n|:--|--:|\n| 1 | ~~2~~ |\n| 3 |\n\n> quote\n\n---\n\n\
    ![a picture](https://c.d/e.png) <b>raw</b>\n\n<div>\nraw\n</div>\n\n\
    A \\(x^2\\), $y$ and $5 in H<sub>2</sub>O<br>**<kbd>a</kbd>** <mark>*b*</mark> $\\unknown$\n\n\
    \\[\n\\frac{a}{b}\n\\]\n\n- $$\n  + c\n  $$\n\n| a<br>b |\n|---|\n| $x|y$ <sup>1</sup> |\n\n\
    <details>\n<summary>More <b>about</b> $z$</summary>\n\n- Hidden\n\n  > [!TIP]\n  > a\n\n</details>\n\n\
    > [!NOTE]\n> Worth $n$\n\n<details><summary>In one</summary>text</details>\n\n[^1]: the note\n";

/// Returns our HTML without comments.
fn html_without_comments(text: &str) -> String {
    let mut out = String::new();
    for part in render_text(text).split("<!") {
        match part.split_once('>') {
            Some((comment, rest)) if comment.is_empty() || comment.starts_with("--") => out.push_str(rest),
            _ => out.push_str(part),
        }
    }
    out
}

#[test]
fn links_open_new_tabs_without_referrer() {
    let link =
        r#"<a href="https://b.c" target="_blank" rel="noopener noreferrer nofollow" class="md-link">a</a>"#;
    assert!(
        html_without_comments("[a](https://b.c)").contains(link),
        "{}",
        html_without_comments("[a](https://b.c)")
    );
    assert!(!html_without_comments("[a](javascript:b)").contains("<a"));
    assert!(!html_without_comments("<script>alert(1)</script>").contains("<script"));
    assert!(!html_without_comments("![a](https://b.c/d.png)").contains("<img"));
}

#[test]
fn code_shows_language_and_copy_button() {
    let html = html_without_comments("```rust ignore\nfn a() {}\n```");
    assert!(
        html.contains(r#"<span class="md-code-language">rust</span>"#),
        "{html}"
    );
    assert!(html.contains(r#"aria-label="Copy code""#), "{html}");
    assert!(html.contains("language-rust"), "{html}");
}

#[test]
fn formulas_are_mathml_or_source() {
    let html = html_without_comments("a \\(x_1\\) b");
    let formula = "a <span dir=\"ltr\" class=\"md-formula\"><math><msub><mi>x</mi><mn>1</mn></msub></math>\
        <span class=\"md-formula-source\" aria-hidden=\"true\">\\(x_1\\)</span></span> b";
    assert!(html.contains(formula), "{html}");
    let html = html_without_comments("$$\\unknown<b>$$");
    let source = "<span dir=\"ltr\" class=\"md-formula-raw md-formula-display\">$$\\unknown&lt;b>$$</span>";
    assert!(html.replace("&gt;", ">").contains(source), "{html}");
}

#[test]
fn tags_and_alerts_are_elements() {
    let html = html_without_comments(
        "H<sub>2</sub> <kbd>a</kbd>\n\n<details>\n<summary>b</summary>\n\nc\n\n</details>\n\n> [!TIP]\n> d\n",
    );
    for part in [
        "H<sub>2</sub> <kbd>a</kbd>",
        "<details dir=\"auto\" class=\"md-details\"><summary>b</summary>",
        "md-alert-tip",
        "<bdi>Tip</bdi></p>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn tables_scroll_in_their_own_box() {
    let html = html_without_comments("| a |\n|:-:|\n| b |");
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
fn checkboxes_are_named_and_disabled() {
    let html = html_without_comments("- [x] a\n- [ ] b");
    assert_eq!(html.matches("disabled").count(), 2, "{html}");
    assert_eq!(html.matches("checked").count(), 1, "{html}");
    assert!(
        html.contains(r#"aria-label="Done""#) && html.contains(r#"aria-label="To do""#),
        "{html}"
    );
}

#[test]
fn footnotes_link_in_both_directions() {
    let html = html_without_comments("a[^1] b[^1] c[^No te]\n\n[^1]: x\n[^no te]: y\n[^1]: z\n");
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
fn message_headings_rank_below_page_headings() {
    let html = html_without_comments("# a\n## b\n###### c");
    assert!(!html.contains("<h1") && !html.contains("<h2"), "{html}");
    assert!(html.contains("<h3 class=\"md-h1\">a</h3>"), "{html}");
}

#[test]
fn streamed_text_renders_like_complete_text() {
    let json = include_str!("../fixtures/commonmark/examples.json");
    let examples: Vec<serde_json::Value> = serde_json::from_str(json).expect("the fixture is JSON");
    let examples = examples.iter().filter_map(|example| example["markdown"].as_str());
    for (seed, text) in examples.chain([SAMPLE_ANSWER]).enumerate() {
        let prose = Prose::new(String::new(), false);
        // The text is rendered from the first word on, and not parsed again as a whole at its end.
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
        assert_eq!(
            tokenize(&render(&prose)),
            tokenize(&render_text(text)),
            "{text:?}"
        );
    }
}

#[test]
fn shows_text_appended_after_the_end() {
    let prose = Prose::finished("a **b");
    render(&prose);
    prose.append("** c");
    prose.finish();
    assert_eq!(render(&prose), render_text("a **b** c"));
}

#[test]
fn paragraphs_contain_no_blocks() {
    let mut open = Vec::new();
    for token in tokenize(&render_text(SAMPLE_ANSWER)) {
        match token {
            crate::html::Token::Open(name, _) => {
                let block = [
                    "div",
                    "p",
                    "ul",
                    "ol",
                    "pre",
                    "table",
                    "blockquote",
                    "h3",
                    "details",
                    "summary",
                ]
                .contains(&name.as_str());
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
