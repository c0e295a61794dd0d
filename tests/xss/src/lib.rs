//! Cross-site scripting strings from public collections (tests/fixtures/xss), and what HTML a text may become.

#![allow(clippy::expect_used, clippy::panic, reason = "only tests use it")]

use std::collections::BTreeSet;

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// The number of strings that are tested in one page.
const BATCH_SIZE: usize = 150;

/// Markdown with every element that Markdown can produce.
pub const HARMLESS_MARKDOWN: &str = "# a\n## b\n### c\n#### d\n\nText **b** *e* ~~s~~ `c` [l](https://a.b \"t\") ![i](https://a.b/i.png \"t\") [1] \
    note[^1]  \nbroken\n\n- [x] done\n- a\n  - b\n\n3. one\n4. two\n\n> quote\n\n---\n\n```rust\nfn main() {}\n```\n\n    code\n\n\
    | a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\n<div>\nhtml\n</div>\n\n\
    a<br>b <sub>c</sub> <sup>d</sup> <kbd>e</kbd> <mark>f</mark>\n\n<details><summary>s</summary>\n\ntext\n\n</details>\n\n\
    > [!NOTE]\n> text\n\n$x+1$\n\n$$\\frac{x_1^2}{\\sqrt[3]{y}}$$\n\n[^1]: note\n";

/// Returns all strings of the collections.
pub fn collections() -> Vec<String> {
    let files = [
        include_str!("../../fixtures/xss/dompurify.json"),
        include_str!("../../fixtures/xss/payloadbox.json"),
        include_str!("../../fixtures/xss/payloads-all-the-things.json"),
    ];
    let read = |file: &str| serde_json::from_str::<Vec<String>>(file).expect("the fixture is JSON");
    files.into_iter().flat_map(read).collect()
}

/// Joins strings to pages of many.
pub fn batches(strings: &[String]) -> Vec<String> {
    strings
        .chunks(BATCH_SIZE)
        .map(|batch| batch.join("\n\n"))
        .collect()
}

/// The elements of a page, with their attribute names and link targets.
#[derive(Debug, Default)]
pub struct ParsedHtml {
    /// `a`, `a href`, …, and comments.
    pub names: BTreeSet<String>,
    urls: BTreeSet<String>,
    /// The text of all text nodes.
    pub text: String,
}

/// Parses HTML as a browser does.
pub fn parse_html(html: &str) -> ParsedHtml {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut made = ParsedHtml::default();
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                for (attribute, value) in &tag.attributes {
                    let attribute = String::from_utf8_lossy(attribute);
                    if ["href", "src", "action", "formaction", "xlink:href"].contains(&&*attribute) {
                        made.urls.insert(String::from_utf8_lossy(value).into_owned());
                    }
                    made.names.insert(format!("{name} {attribute}"));
                }
                made.names.insert(name);
            }
            Token::String(text) => made.text.push_str(&String::from_utf8_lossy(&text)),
            // Leptos marks places with comments, which never contain text.
            Token::Comment(comment) => {
                let comment = String::from_utf8_lossy(&comment).into_owned();
                made.names.insert(["<!--", &comment, "-->"].concat());
            }
            Token::EndTag(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    made
}

/// Asserts that a text produces only elements and attributes that harmless texts produce, and only allowed link
/// targets.
pub fn assert_harmless(name: &str, made: &ParsedHtml, allowed: &BTreeSet<String>) {
    let more: Vec<_> = made.names.difference(allowed).collect();
    assert!(more.is_empty(), "{name} has made {more:?}");
    for url in &made.urls {
        // Browsers ignore control characters there.
        let url: String = url.chars().filter(|c| !c.is_control()).collect();
        let before_path = url.trim().split(['/', '?', '#']).next().unwrap_or_default();
        let scheme = before_path
            .split_once(':')
            .map(|(scheme, _)| scheme.to_ascii_lowercase());
        let is_allowed = scheme.is_none_or(|scheme| ["https", "http", "mailto"].contains(&scheme.as_str()));
        assert!(is_allowed, "{name} leads to {url}");
    }
}

/// Asserts that none of these elements and attributes can execute or load anything.
pub fn assert_no_code(names: &BTreeSet<String>) {
    for tag in [
        "script", "style", "iframe", "object", "embed", "base", "meta", "link",
    ] {
        assert!(!names.contains(tag), "{tag}");
    }
    let handler = names
        .iter()
        .find(|name| name.contains(" on") || name.ends_with(" style"));
    assert_eq!(handler, None);
}

/// Asserts that no string of the collections becomes markup in a view, and that the view shows it. `render` makes the HTML of a
/// view with a text in all places.
pub fn assert_harmless_in(name: &str, render: impl Fn(&str) -> String) {
    let mut allowed = BTreeSet::new();
    for text in [HARMLESS_MARKDOWN, "text", "https://example.com/"] {
        allowed.append(&mut parse_html(&render(text)).names);
    }
    assert_no_code(&allowed);
    for (index, text) in batches(&collections()).iter().enumerate() {
        let made = parse_html(&render(text));
        assert_harmless(&format!("{name}: batch {index}"), &made, &allowed);
        assert!(
            made.text.contains(&parsed_text(text)),
            "{name}: batch {index} is shown"
        );
    }
}

/// Returns a text as a parser reads it: each of these becomes one line break.
pub fn parsed_text(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
