//! The examples of the CommonMark specification: the HTML of our views compared with the specification's.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    html::{Token, collapse_whitespace, tokenize},
    render_text,
};

struct Example {
    number: u64,
    markdown: String,
    html: String,
}

fn examples() -> Vec<Example> {
    let json = include_str!("../fixtures/commonmark/examples.json");
    let examples: Vec<serde_json::Value> = serde_json::from_str(json).expect("the fixture is JSON");
    let text = |example: &serde_json::Value, key: &str| example[key].as_str().unwrap_or_default().to_owned();
    let example = |example: &serde_json::Value| Example {
        number: example["example"].as_u64().unwrap_or_default(),
        markdown: text(example, "markdown"),
        html: text(example, "html"),
    };
    examples.iter().map(example).collect()
}

/// Examples with raw HTML, which is shown as text.
const RAW_HTML_EXAMPLES: &[u64] = &[
    21, 31, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166,
    167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187,
    188, 189, 190, 191, 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536, 613, 614, 615, 616, 617, 623,
    625, 626, 627, 628, 629, 630, 631, 642, 643,
];

/// Examples with an image, which becomes a link.
const IMAGE_EXAMPLES: &[u64] = &[
    517, 520, 531, 572, 573, 574, 575, 576, 577, 578, 579, 580, 581, 582, 583, 584, 585, 586, 587, 588, 589,
    591,
];

/// Examples whose URL has a scheme that is not allowed, or a control character: it becomes no link.
const REJECTED_LINK_EXAMPLES: &[u64] = &[500, 596, 598, 599, 601];

/// Examples with a bare URL, which becomes a link as in GitHub's Markdown.
const BARE_URL_EXAMPLES: &[u64] = &[608, 611];

#[test]
fn examples_match_the_specification() {
    let lists = [
        RAW_HTML_EXAMPLES,
        IMAGE_EXAMPLES,
        REJECTED_LINK_EXAMPLES,
        BARE_URL_EXAMPLES,
    ];
    let excepted: BTreeSet<u64> = lists.into_iter().flatten().copied().collect();
    assert_eq!(
        excepted.len(),
        lists.iter().map(|list| list.len()).sum::<usize>(),
        "an example is excepted once"
    );

    let mut differ = BTreeMap::new();
    let examples = examples();
    for example in &examples {
        let ours = collapse_whitespace(normalize(tokenize(&render_text(&example.markdown))));
        let theirs = collapse_whitespace(tokenize(&example.html));
        if ours != theirs {
            differ.insert(example.number, (&example.markdown, ours, theirs));
        }
    }
    for number in &excepted {
        assert!(
            differ.remove(number).is_some(),
            "example {number} is listed as an exception and is none"
        );
    }
    for (number, (markdown, ours, theirs)) in &differ {
        eprintln!("example {number}: {markdown:?}\n   ours {ours:?}\n theirs {theirs:?}");
    }
    assert_eq!(
        differ.into_keys().collect::<Vec<_>>(),
        Vec::<u64>::new(),
        "these differ"
    );
    assert_eq!(examples.len(), 652);
    assert_eq!(
        lists.map(<[u64]>::len),
        [72, 22, 5, 2],
        "raw HTML, pictures, refused links, bare URLs"
    );
}

#[test]
fn image_examples_differ_only_in_images() {
    for example in examples()
        .iter()
        .filter(|example| IMAGE_EXAMPLES.contains(&example.number))
    {
        let ours = collapse_whitespace(normalize(tokenize(&render_text(&example.markdown))));
        let theirs = collapse_whitespace(replace_images(tokenize(&example.html)));
        assert_eq!(ours, theirs, "example {}: {:?}", example.number, example.markdown);
    }
}

#[test]
fn rejected_link_examples_lack_only_links() {
    for example in examples()
        .iter()
        .filter(|example| REJECTED_LINK_EXAMPLES.contains(&example.number))
    {
        let ours = collapse_whitespace(normalize(tokenize(&render_text(&example.markdown))));
        let is_link =
            |token: &Token| matches!(token, Token::Open(name, _) | Token::Close(name) if name == "a");
        let theirs = tokenize(&example.html)
            .into_iter()
            .filter(|token| !is_link(token))
            .collect();
        assert_eq!(
            ours,
            collapse_whitespace(theirs),
            "example {}: {:?}",
            example.number,
            example.markdown
        );
    }
}

/// Replaces each image by a link, or by its description inside a link.
fn replace_images(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut in_link = false;
    let text = |out: &mut Vec<Token>, text: String| match out.last_mut() {
        Some(Token::Text(last)) => last.push_str(&text),
        _ => out.push(Token::Text(text)),
    };
    for token in tokens {
        match token {
            Token::Open(name, mut attributes) if name == "img" => {
                let alt = attributes.remove("alt").unwrap_or_default();
                if in_link {
                    text(&mut out, alt);
                } else {
                    let href = attributes.remove("src").unwrap_or_default();
                    let name = if alt.is_empty() { href.clone() } else { alt };
                    attributes.insert("href".to_owned(), href);
                    out.push(Token::Open("a".to_owned(), attributes));
                    text(&mut out, name);
                    out.push(Token::Close("a".to_owned()));
                }
            }
            Token::Close(name) if name == "img" => {}
            Token::Text(words) => text(&mut out, words),
            other => {
                match &other {
                    Token::Open(name, _) if name == "a" => in_link = true,
                    Token::Close(name) if name == "a" => in_link = false,
                    _ => {}
                }
                out.push(other);
            }
        }
    }
    out
}

/// Removes our additions to the specification from our HTML.
fn normalize(tokens: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::new();
    // For each open element, the replacement of its end tag.
    let mut open: Vec<Option<String>> = Vec::new();
    // The number of open elements from one of our own on, whose contents are removed.
    let mut hidden = 0_usize;
    // The style sheet handles paragraphs in the items of tight lists.
    let mut parents: Vec<Parent> = vec![Parent::Other];
    for token in tokens {
        match token {
            Token::Open(name, mut attributes) => {
                let class = attributes.remove("class").unwrap_or_default();
                let parent = parents.last().copied().unwrap_or(Parent::Other);
                let here = match name.as_str() {
                    "ul" | "ol" if class.contains("md-tight") => Parent::TightList,
                    "li" if parent == Parent::TightList => Parent::TightItem,
                    _ => Parent::Other,
                };
                parents.push(here);
                if hidden > 0 || class == "md-code-head" {
                    hidden += 1;
                    open.push(None);
                    continue;
                }
                let kept = match name.as_str() {
                    "div" | "span" => None,
                    "p" if parent == Parent::TightItem => None,
                    "h3" | "h4" | "h5" | "h6" => Some(class.trim_start_matches("md-").to_owned()),
                    _ => Some(name),
                };
                for added in ["target", "rel", "tabindex", "scope", "data-lazy", "dir"] {
                    attributes.remove(added);
                }
                if class.starts_with("language-") {
                    attributes.insert("class".to_owned(), class);
                }
                if let Some(href) = attributes.get_mut("href") {
                    *href = percent_encode(href);
                }
                if let Some(name) = &kept {
                    out.push(Token::Open(name.clone(), attributes));
                }
                open.push(kept);
            }
            Token::Close(_) => {
                parents.pop();
                if let Some(name) = open.pop().flatten() {
                    out.push(Token::Close(name));
                }
                hidden = hidden.saturating_sub(1);
            }
            Token::Text(text) if hidden == 0 => match out.last_mut() {
                Some(Token::Text(last)) => last.push_str(&text),
                _ => out.push(Token::Text(text)),
            },
            Token::Text(_) => {}
        }
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    TightList,
    TightItem,
    Other,
}

/// Encodes a URL as in the specification's examples. A browser does the same with ours.
fn percent_encode(href: &str) -> String {
    let mut out = String::new();
    for byte in href.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.+!*'(),%#@?=;:/&$~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
