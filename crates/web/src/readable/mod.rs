//! The readable text of a response: HTML, plain text or JSON.
//!
//! HTML becomes text that resembles Markdown: [`html_tree`] parses it to a tree of limited depth
//! and size, without invisible content (scripts, navigation, hidden elements); [`main_content`]
//! finds the main part; [`render`] writes it. No step recurses and each is linear, so that no page
//! can exhaust the stack or take long. Nothing is run or loaded.
//!
//! dom_smoothie 0.19 and html2text 0.17 were weighed. Both take quadratic time or more for nested
//! elements: 5000 nested `div` (25 KB) took dom_smoothie 42 s, and 10,000, 20,000 and 40,000 took
//! html2text 4, 14 and 58 s, on a busy machine.

mod attributes;
mod charset;
mod html_tree;
mod links;
mod main_content;
mod page_metadata;
mod render;
mod tag;
#[cfg(test)]
mod tests;
mod writer;

use reqwest::Url;
use serde::de::IgnoredAny;

use self::html_tree::{HtmlDocument, KeepMode};
use super::{FetchError, guard::Download};
use parlor_protocol::json::pretty_print_up_to;

/// Maximum size of a page's text, in bytes. A link can be a hundred times longer as text than in
/// the page.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// A page for a model or a user to read. All of it is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadablePage {
    /// The URL after redirects.
    pub url: String,
    pub title: Option<String>,
    /// The author, as given by the page.
    pub byline: Option<String>,
    /// The date, as given by the page, in any format.
    pub published: Option<String>,
    /// The text with headings, lists, tables, code and links as in Markdown. Empty if the page has
    /// no text without its scripts.
    pub text: String,
    /// True if the page exceeded the limits.
    pub is_cut: bool,
}

/// The format of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentKind {
    Html,
    Json,
    Text,
}

/// Returns `true` for a readable content type. An empty one is accepted, since the bytes decide
/// then.
pub fn is_readable(content_type: &str) -> bool {
    essence(content_type).is_empty() || content_kind(content_type).is_some()
}

/// Reads a downloaded page.
///
/// # Errors
///
/// If it is not text, whatever its content type says.
pub fn read_page(download: &Download) -> Result<ReadablePage, FetchError> {
    let kind = match content_kind(&download.content_type) {
        Some(kind) => kind,
        None if essence(&download.content_type).is_empty() => sniff_kind(&download.body),
        None => return Err(FetchError::UnsupportedType(essence(&download.content_type))),
    };
    if let Some(what) = detect_binary(&download.body) {
        return Err(FetchError::UnsupportedType(what.into()));
    }
    let text = charset::decode(&download.body, &download.content_type, kind == ContentKind::Html);
    let page = match kind {
        ContentKind::Html => read_html(&text, &download.url),
        ContentKind::Json => read_json(&text),
        ContentKind::Text => read_plain(&text),
    };
    Ok(ReadablePage {
        url: download.url.to_string(),
        is_cut: page.is_cut || download.is_cut,
        ..page
    })
}

/// Returns a media type without its parameters.
fn essence(content_type: &str) -> String {
    let essence = content_type.split([';', ',']).next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn content_kind(content_type: &str) -> Option<ContentKind> {
    let essence = essence(content_type);
    Some(match essence.as_str() {
        "text/html" | "application/xhtml+xml" => ContentKind::Html,
        "application/json" | "text/json" => ContentKind::Json,
        "application/xml"
        | "application/javascript"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml" => ContentKind::Text,
        "image/svg+xml" => return None,
        other if other.starts_with("text/") || other.ends_with("+xml") => ContentKind::Text,
        other if other.ends_with("+json") => ContentKind::Json,
        _ => return None,
    })
}

fn sniff_kind(body: &[u8]) -> ContentKind {
    let start = String::from_utf8_lossy(&body[..body.len().min(1024)]).to_ascii_lowercase();
    let is_html = ["<!doctype html", "<html", "<head", "<body", "<title"]
        .iter()
        .any(|tag| start.contains(tag));
    if is_html {
        ContentKind::Html
    } else {
        ContentKind::Text
    }
}

/// Returns the format of binary data, whatever the content type says.
fn detect_binary(body: &[u8]) -> Option<&'static str> {
    let start = &body[..body.len().min(1024)];
    if start.starts_with(b"%PDF-") {
        return Some("application/pdf");
    }
    let is_utf16 = start.starts_with(b"\xfe\xff") || start.starts_with(b"\xff\xfe");
    (start.contains(&0) && !is_utf16).then_some("binary data")
}

fn read_html(text: &str, url: &Url) -> ReadablePage {
    let document = HtmlDocument::parse(text, KeepMode::VisibleOnly);
    let page = build_page(&document, url);
    if !page.text.is_empty() {
        return page;
    }
    // Some pages hide all their content until their scripts have run.
    build_page(&HtmlDocument::parse(text, KeepMode::WithHidden), url)
}

fn build_page(document: &HtmlDocument, url: &Url) -> ReadablePage {
    let rendered = render::render(document, url);
    let facts = &document.metadata;
    ReadablePage {
        title: facts.title().or_else(|| document.first_heading()),
        byline: facts.byline.clone(),
        published: facts.published.clone(),
        text: rendered.text,
        is_cut: rendered.is_cut || document.is_cut,
        ..ReadablePage::default()
    }
}

/// Reads JSON with each member on its own line. What is not JSON is read as plain text.
fn read_json(text: &str) -> ReadablePage {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => read_plain(&pretty_print_up_to(text, MAX_TEXT_BYTES)),
        Err(_) => read_plain(text),
    }
}

/// Reads plain text, without invisible characters.
fn read_plain(text: &str) -> ReadablePage {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    let seen = text[..end]
        .chars()
        .filter(|&c| c == '\n' || c == '\t' || !writer::is_invisible(c));
    ReadablePage {
        text: seen.collect(),
        is_cut: end < text.len(),
        ..ReadablePage::default()
    }
}
