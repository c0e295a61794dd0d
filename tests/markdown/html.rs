//! A minimal HTML parser, to compare the views' HTML with the specification's.

use std::collections::BTreeMap;

/// A token of HTML, without differences that do not change its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Open(String, BTreeMap<String, String>),
    Close(String),
    Text(String),
}

const BLOCK_ELEMENTS: [&str; 24] = [
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "hr",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "section",
    "aside",
    "br",
    "input",
];
const VOID_ELEMENTS: [&str; 4] = ["br", "hr", "img", "input"];

/// Splits HTML into tokens, in the style of this program and of the specification. Comments are skipped.
pub fn tokenize(html: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let Some(at) = rest.find('<') else {
            push_text(rest, &mut tokens);
            break;
        };
        push_text(&rest[..at], &mut tokens);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!") {
            let end = if comment.starts_with("--") { "-->" } else { ">" };
            let at = comment.find(end).map_or(comment.len(), |at| at + end.len());
            rest = &comment[at..];
            continue;
        }
        let end = tag_end(rest);
        let tag = &rest[1..end];
        rest = &rest[(end + 1).min(rest.len())..];
        if let Some(name) = tag.strip_prefix('/') {
            tokens.push(Token::Close(name.trim().to_owned()));
        } else {
            let (name, attributes) = parse_tag(tag.trim_end_matches('/'));
            let void = VOID_ELEMENTS.contains(&name.as_str());
            tokens.push(Token::Open(name.clone(), attributes));
            if void {
                tokens.push(Token::Close(name));
            }
        }
    }
    tokens
}

fn push_text(text: &str, tokens: &mut Vec<Token>) {
    if text.is_empty() {
        return;
    }
    match tokens.last_mut() {
        Some(Token::Text(last)) => last.push_str(&decode_entities(text)),
        _ => tokens.push(Token::Text(decode_entities(text))),
    }
}

/// Returns the end of the tag that begins `html`: the first `>` outside of quotes.
fn tag_end(html: &str) -> usize {
    let mut quoted = false;
    for (at, c) in html.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return at,
            _ => {}
        }
    }
    html.len()
}

fn parse_tag(tag: &str) -> (String, BTreeMap<String, String>) {
    let tag = tag.trim();
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let end = rest
            .find(|c: char| c == '=' || c.is_whitespace())
            .unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        rest = &rest[end..];
        let value = match rest.strip_prefix("=\"") {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                rest = quoted.get(end + 1..).unwrap_or_default();
                decode_entities(&quoted[..end])
            }
            // This occurs only in raw HTML of the examples, which is not compared.
            None => {
                rest = rest.trim_start_matches('=');
                String::new()
            }
        };
        attributes.insert(key, value);
    }
    (name.to_owned(), attributes)
}

fn decode_entities(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#x27;", "'");
    text.replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
}

/// Removes whitespace that is not shown: all of it next to a block, and all but one space elsewhere, but
/// none in `pre`.
pub fn collapse_whitespace(tokens: Vec<Token>) -> Vec<Token> {
    let is_block = |token: Option<&Token>| match token {
        None => true,
        Some(Token::Open(name, _) | Token::Close(name)) => BLOCK_ELEMENTS.contains(&name.as_str()),
        Some(Token::Text(_)) => false,
    };
    let mut out: Vec<Token> = Vec::new();
    let mut pre = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(name, _) if name == "pre" => pre += 1,
            Token::Close(name) if name == "pre" => pre -= 1,
            Token::Text(text) if pre == 0 => {
                let ends = [text.starts_with(is_space), text.ends_with(is_space)];
                let mut words = text
                    .split(is_space)
                    .filter(|word| !word.is_empty())
                    .collect::<Vec<_>>()
                    .join(" ");
                if ends[0] && !is_block(out.last()) {
                    words.insert(0, ' ');
                }
                if ends[1] && !is_block(tokens.get(index + 1)) && words != " " {
                    words.push(' ');
                }
                if !words.is_empty() {
                    out.push(Token::Text(words));
                }
                continue;
            }
            _ => {}
        }
        out.push(token.clone());
    }
    out
}

/// Returns true for whitespace, except a no-break space, which is shown.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r')
}
