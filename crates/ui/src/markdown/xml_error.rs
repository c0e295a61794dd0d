//! The reason why an SVG is not well-formed XML.

use super::texts;

/// Describes the first tag that is unfinished or has no partner, as a sentence without its full stop. `None` if there is none.
pub fn xml_error(text: &str) -> Option<String> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let (mut at, mut line, mut line_at) = (0, 1, 0);
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        line += text[line_at..start].matches('\n').count();
        line_at = start;
        let rest = &text[start..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        let end = match special.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((_, end)) => rest.find(end).map(|at| at + end.len()),
            None => tag_end(rest),
        };
        let Some(end) = end else {
            return Some(texts::tag_unfinished(line));
        };
        let tag = &rest[1..end - 1];
        at = start + end;
        if tag.starts_with(['!', '?']) {
            continue;
        }
        let name_end = |tag: &str| {
            tag.find(|c: char| c.is_whitespace() || c == '/')
                .unwrap_or(tag.len())
        };
        if let Some(closed) = tag.strip_prefix('/') {
            let name = closed.trim_end();
            match open.pop() {
                Some((opened, _)) if opened == name => {}
                Some((opened, line_of)) => {
                    return Some(texts::tag_ends_another(line, name, opened, line_of));
                }
                None => return Some(texts::tag_ends_nothing(line, name)),
            }
        } else if !tag.ends_with('/') {
            open.push((&tag[..name_end(tag)], line));
        }
    }
    let (name, line) = open.pop()?;
    Some(texts::tag_open(line, name))
}

/// The byte position after the `>` of a tag. Quoted values may contain one.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in tag.char_indices().skip(1) {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, '>') => return Some(at + 1),
            (None, '<') => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_tag_that_does_not_fit() {
        for (text, reason) in [
            (
                "<?xml version=\"1.0\"?><!-- <a> --><svg a='>'><g/><b>c</b ></svg>",
                None,
            ),
            (
                "<svg>\n<g>\n</svg>",
                Some("line 3: </svg> ends <g>, which begins in line 2"),
            ),
            ("<svg>\n<g>", Some("line 2: <g> has no end")),
            ("<svg/></g>", Some("line 1: </g> ends nothing")),
            ("<svg>\n<g a=\"b></g></svg>", Some("line 2: a tag has no end")),
            ("<svg>\n<g <b/></svg>", Some("line 2: a tag has no end")),
            ("", None),
        ] {
            assert_eq!(xml_error(text).as_deref(), reason, "{text}");
        }
    }
}
