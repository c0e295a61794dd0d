//! Parses the full texts of PubMed Central (JATS, <https://jats.nlm.nih.gov/archiving/tag-library/1.3/>).

use quick_xml::{Error, Reader, escape::resolve_predefined_entity, events::Event};

/// Elements of the body whose text is left out: they are no sentences.
const LEFT_OUT: [&str; 6] = [
    "table-wrap",
    "fig",
    "disp-formula",
    "supplementary-material",
    "table-wrap-group",
    "fig-group",
];

/// Returns the headings and paragraphs of an article's body, up to about `max_bytes`. An article that is not open has none.
///
/// # Errors
///
/// If the text is not XML.
pub fn parse_paragraphs(xml: &str, max_bytes: usize) -> Result<Vec<String>, Error> {
    let mut reader = Reader::from_str(xml);
    let (mut paragraphs, mut bytes) = (Vec::new(), 0);
    let (mut in_body, mut left_out) = (false, 0_usize);
    // The text of the present paragraph or heading, and the depth of elements in it that are alike.
    let mut text: Option<(String, usize)> = None;
    loop {
        match reader.read_event()? {
            Event::Start(tag) => match tag.name().into_inner() {
                "body" => in_body = true,
                name if LEFT_OUT.contains(&name) => left_out += 1,
                "p" | "title" if in_body && left_out == 0 => match &mut text {
                    Some((_, depth)) => *depth += 1,
                    None => text = Some((String::new(), 0)),
                },
                _ => {}
            },
            Event::End(tag) => match tag.name().into_inner() {
                "body" => return Ok(paragraphs),
                name if LEFT_OUT.contains(&name) => left_out = left_out.saturating_sub(1),
                "p" | "title" if left_out == 0 => match text.take() {
                    Some((words, depth)) if depth > 0 => text = Some((words, depth - 1)),
                    Some((words, _)) => {
                        let words: Vec<&str> = words.split_whitespace().collect();
                        let paragraph = words.join(" ");
                        bytes += paragraph.len();
                        if bytes > max_bytes {
                            return Ok(paragraphs);
                        }
                        if !paragraph.is_empty() {
                            paragraphs.push(paragraph);
                        }
                    }
                    None => {}
                },
                _ => {}
            },
            Event::Text(more) => push(&mut text, left_out, &more.xml10_content()),
            Event::CData(more) => push(&mut text, left_out, &more.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref()? {
                Some(character) => push(&mut text, left_out, character.encode_utf8(&mut [0; 4])),
                // Custom entities are ignored: their definitions are not trusted.
                None => {
                    let entity = resolve_predefined_entity(&name.xml10_content()).unwrap_or_default();
                    push(&mut text, left_out, entity);
                }
            },
            Event::Eof => return Ok(paragraphs),
            _ => {}
        }
    }
}

fn push(text: &mut Option<(String, usize)>, left_out: usize, more: &str) {
    if let (Some((text, _)), 0) = (text, left_out) {
        text.push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARTICLE: &str = "<pmc-articleset><article><front><abstract><p>Short.</p></abstract></front><body>\
        <sec><title>Methods</title><p>We measured <italic>salt</italic>&#160;at <xref>3</xref> places &amp; times.</p>\
        <table-wrap><caption><p>Table 1</p></caption></table-wrap><p>It\n  rose.</p></sec></body><back><p>Thanks.</p></back>\
        </article></pmc-articleset>";

    #[test]
    fn body_becomes_headings_and_paragraphs() {
        let read = |limit| parse_paragraphs(ARTICLE, limit).unwrap();
        let all = ["Methods", "We measured salt at 3 places & times.", "It rose."];
        assert_eq!(read(1000), all);
        assert_eq!(read(45), all[..2]);
        let closed = "<pmc-articleset><article><!-- The publisher does not allow downloading --><front/></article></pmc-articleset>";
        assert_eq!(parse_paragraphs(closed, 1000).unwrap(), [] as [&str; 0]);
        assert!(parse_paragraphs("<body><p>x</q></body>", 1000).is_err());
    }
}
