//! The markup of a page in a frame, made safe where a policy does not help.

use std::borrow::Cow;

/// The script that runs before those of a page.
pub const GUARD: &str = include_str!("guard.js");

/// The elements for which browsers open connections ahead of time, although the policy forbids what they load
/// (`preconnect`, `dns-prefetch`, and refused frames), or that would have scripts without the guard.
const REFUSED_ELEMENTS: [&str; 6] = ["link", "iframe", "frame", "fencedframe", "object", "embed"];

/// Renames [`REFUSED_ELEMENTS`]. They could show nothing.
pub fn without_connections(page: &str) -> Cow<'_, str> {
    let mut renamed = String::new();
    let mut copied = 0;
    for (at, _) in page.match_indices('<') {
        let rest = &page[at + 1..];
        // A name ends where the HTML parser ends it. In a script, `i<link.length` has no name.
        let end = rest.find(['\t', '\n', '\u{c}', '\r', ' ', '/', '>']);
        let name = &rest[..end.unwrap_or(rest.len())];
        if REFUSED_ELEMENTS
            .iter()
            .any(|refused| refused.eq_ignore_ascii_case(name))
        {
            renamed.push_str(&page[copied..=at]);
            renamed.push_str("x-");
            copied = at + 1;
        }
    }
    if copied == 0 {
        return page.into();
    }
    renamed.push_str(&page[copied..]);
    renamed.into()
}

/// Returns a page whose scripts may run: nothing of it stands before the guard. Its doctype is repeated there, since it would
/// not count after the guard.
pub fn guarded(page: &str) -> String {
    const DOCTYPE: &str = "<!DOCTYPE html>";
    let start_of_doctype = &DOCTYPE[..DOCTYPE.len() - 1];
    let has_doctype = page.match_indices('<').any(|(at, _)| {
        let start = page.get(at..at + start_of_doctype.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(start_of_doctype))
    });
    let doctype = if has_doctype { DOCTYPE } else { "" };
    [
        doctype,
        "<script>",
        GUARD,
        "</script>",
        &without_connections(page),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connecting_elements_are_renamed_in_every_case() {
        for (page, renamed) in [
            ("<p>a</p>", "<p>a</p>"),
            (
                "<link rel=preconnect href=//a>b<LINK>",
                "<x-link rel=preconnect href=//a>b<x-LINK>",
            ),
            ("é<lInk/>é<é", "é<x-lInk/>é<é"),
            ("<iframe\nsrc=//a></iframe>", "<x-iframe\nsrc=//a></iframe>"),
            ("<link", "<x-link"),
            (
                "for (i=0;i<links.length;i++) if (a<link.b) <linked>",
                "for (i=0;i<links.length;i++) if (a<link.b) <linked>",
            ),
        ] {
            assert_eq!(without_connections(page), renamed);
        }
    }

    #[test]
    fn guard_stands_before_the_page() {
        let begin = format!("<!DOCTYPE html><script>{GUARD}</script>");
        for page in [
            "<!doctype HTML><p>",
            "<!--><script>a()</script><!doctype html>-->",
        ] {
            assert_eq!(guarded(page), format!("{begin}{page}"));
        }
        assert_eq!(guarded("<p>"), format!("<script>{GUARD}</script><p>"));
    }

    #[test]
    fn guard_refuses_the_same_elements() {
        let names = REFUSED_ELEMENTS.map(|name| format!("'{name}'")).join(", ");
        assert!(GUARD.contains(&format!("const REFUSED = [{names}];")));
        assert!(!GUARD.to_lowercase().contains("</script") && !GUARD.contains("<!--"));
    }
}
