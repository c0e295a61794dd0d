//! Hostile pages.

use std::time::{Duration, Instant};

use fuzzing::properties;
use proptest::prelude::*;

use super::*;
use crate::readable::html_tree::HtmlNode;

/// Enough for a slow machine and an unoptimised build. Quadratic time would be much longer for the
/// smallest page.
const MAX_DURATION: Duration = Duration::from_secs(30);

fn repeat_to_kilobytes(count: usize, part: &str) -> String {
    part.repeat((count << 10) / part.len())
}

#[test]
fn hostile_pages_use_bounded_stack_and_time() {
    let some = |part: &str| repeat_to_kilobytes(300, part);
    for (what, page) in [
        ("ten megabytes", repeat_to_kilobytes(10 << 10, "<div>")),
        ("unclosed in lists", some("<ul><li>")),
        ("unclosed quotes", some("<blockquote>x")),
        ("unclosed formatting", some("<b>") + "x"),
        ("unclosed tables", some("<table><tr><td>x")),
        (
            "links of an endless base",
            format!("<base href='/{}/'>", "x".repeat(1 << 20)) + &some("<a href=x>x</a>"),
        ),
        (
            "links without words",
            "x".repeat(1 << 19) + &some("<a href=b></a>"),
        ),
        (
            "links of a long base",
            format!("<base href='/{}/'>", "x".repeat(1900)) + &some("<a href=x>x</a>"),
        ),
        ("paragraphs", some("<p>")),
        ("items", "<ul>".repeat(300) + &some("<li>x")),
        ("ends of nothing", "<div>".repeat(300) + &some("</i></p></td>")),
        (
            "ends of what is outside",
            "<i><table><tr><td>".to_owned() + &"<div>".repeat(300) + &some("</i>"),
        ),
        (
            "attributes",
            "<a ".to_owned() + &(0..50_000).map(|n| format!("a{n} ")).collect::<String>() + ">x",
        ),
        ("one attribute", format!("<a href='{}'>x", some("x"))),
        ("a comment", "<!--".to_owned() + &some("-")),
        ("hidden", some("<p hidden>")),
        ("lines", "<pre>".to_owned() + &some("\n")),
        (
            "backticks",
            "<pre>".to_owned() + &repeat_to_kilobytes(1 << 10, "`"),
        ),
        ("entities", some("&amp;&notit;")),
        ("metas", some("<meta name=author content=x>")),
    ] {
        let started = Instant::now();
        let page = page_of(&page);
        assert!(
            page.text.len() < 2 * MAX_TEXT_BYTES,
            "{what}: {}",
            page.text.len()
        );
        assert!(
            started.elapsed() < MAX_DURATION,
            "{what}: {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn reads_text_below_the_depth_limit() {
    let html = "<div>".repeat(100_000)
        + "<p>deep</p><nav>x<b>y</b></nav><script>z</script>"
        + &"</div>".repeat(100_000)
        + "<p>after</p>";
    assert_reads(&html, "deep\n\nafter");
}

#[test]
fn limits_tree_depth() {
    let document = HtmlDocument::parse(
        &("<table><tr><td><ul><li>".repeat(1000) + "x"),
        KeepMode::VisibleOnly,
    );
    let last = document.nodes.len() - 1;
    let is_around = |node: &HtmlNode| matches!(node, HtmlNode::Element(element) if element.end > last);
    assert_eq!(document.nodes.iter().filter(|node| is_around(node)).count(), 256);
}

properties! {
    256;

    #[test]
    fn never_panics_on_any_bytes(body: Vec<u8>, kind in "(text/html|text/plain|application/json|)(; charset=(utf-16|gbk|x))?") {
        let _ = read_as(&kind, &body);
    }

    #[test]
    fn never_panics_on_any_tags(
        tags in prop::collection::vec((any::<bool>(), 0..TAGS.len(), 0..ATTRIBUTES.len(), "[a-z <&|\n]{0,3}"), 0..200)
    ) {
        let html: String = tags
            .iter()
            .map(|&(is_end, tag, attribute, ref text)| match is_end {
                true => format!("</{}>{text}", TAGS[tag]),
                false => format!("<{} {}>{text}", TAGS[tag], ATTRIBUTES[attribute]),
            })
            .collect();
        let document = HtmlDocument::parse(&html, KeepMode::VisibleOnly);
        for (index, node) in document.nodes.iter().enumerate() {
            if let HtmlNode::Element(element) = node {
                prop_assert!(index < element.end && element.end <= document.nodes.len());
            }
        }
        for link in page_of(&html).text.split("](").skip(1) {
            prop_assert!(link.starts_with("http"), "{link}");
        }
    }
}

const TAGS: [&str; 32] = [
    "a",
    "article",
    "aside",
    "b",
    "blockquote",
    "br",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "form",
    "h1",
    "header",
    "hr",
    "img",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "script",
    "svg",
    "table",
    "td",
    "textarea",
    "th",
    "title",
    "tr",
    "ul",
    "x",
];
const ATTRIBUTES: [&str; 8] = [
    "",
    "",
    "",
    "href=/x",
    "hidden",
    "role=main",
    "role=presentation",
    "alt=y start=9 href=#",
];
