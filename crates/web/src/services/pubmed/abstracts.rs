//! Parses abstracts from PubMed's XML of articles:
//! <https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/index.html>.

use std::collections::HashMap;

use quick_xml::{
    Error, Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use parlor_base::text;

/// Maximum length of an abstract, in characters; the rest is dropped.
const MAX_ABSTRACT_CHARS: usize = 10_000;

/// Returns the abstracts by their articles' PMIDs; that of an article without one is empty. Each section of an abstract becomes
/// a line.
///
/// # Errors
///
/// If the text is not XML.
pub fn parse_abstracts(xml: &str) -> Result<HashMap<String, String>, Error> {
    let mut reader = Reader::from_str(xml);
    let mut abstracts = HashMap::new();
    let mut article = ArticleParser::default();
    loop {
        match reader.read_event()? {
            Event::Start(tag) => article.start_tag(&tag),
            Event::End(tag) => {
                if let Some((pmid, text)) = article.end_tag(tag.name().into_inner()) {
                    abstracts.insert(pmid, text);
                }
            }
            Event::Text(text) => article.push_text(&text.xml10_content()),
            Event::CData(text) => article.push_text(&text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref()? {
                Some(character) => article.push_text(character.encode_utf8(&mut [0; 4])),
                // Custom entities are ignored: their definitions are not trusted.
                None => {
                    article.push_text(resolve_predefined_entity(&name.xml10_content()).unwrap_or_default())
                }
            },
            Event::Eof => return Ok(abstracts),
            _ => {}
        }
    }
}

/// An article that is being parsed.
#[derive(Default)]
struct ArticleParser {
    /// The first PMID is the article's own; those of cited articles follow.
    pmid: Option<String>,
    sections: Vec<String>,
    in_abstract: bool,
    /// The present target of text.
    target: Option<TextTarget>,
}

enum TextTarget {
    Pmid(String),
    Section { label: String, text: String },
}

impl ArticleParser {
    fn start_tag(&mut self, tag: &BytesStart) {
        match tag.name().into_inner() {
            "PubmedArticle" | "PubmedBookArticle" => *self = Self::default(),
            "PMID" if self.pmid.is_none() => self.target = Some(TextTarget::Pmid(String::new())),
            "Abstract" => self.in_abstract = true,
            "AbstractText" if self.in_abstract => {
                let label = tag.try_get_attribute("Label").ok().flatten();
                let label = label.and_then(|label| label.normalized_value(XmlVersion::Implicit1_0).ok());
                self.target = Some(TextTarget::Section {
                    label: label.unwrap_or_default().into_owned(),
                    text: String::new(),
                });
            }
            _ => {}
        }
    }

    /// Handles an end tag. Returns the abstract at the article's end.
    fn end_tag(&mut self, tag: &str) -> Option<(String, String)> {
        match (tag, self.target.take()) {
            ("PMID", Some(TextTarget::Pmid(pmid))) => self.pmid = Some(pmid.trim().to_owned()),
            ("AbstractText", Some(TextTarget::Section { label, text })) => {
                let text = text::plain_line(&text, MAX_ABSTRACT_CHARS);
                self.sections.push(if label.is_empty() {
                    text
                } else {
                    format!("{}: {text}", text::plain_line(&label, 100))
                });
            }
            ("Abstract", _) => self.in_abstract = false,
            ("PubmedArticle" | "PubmedBookArticle", _) => {
                let text =
                    text::truncate_chars(&std::mem::take(&mut self.sections).join("\n"), MAX_ABSTRACT_CHARS);
                return Some((self.pmid.take()?, text));
            }
            // The end of an emphasised part of a text.
            (_, target) => self.target = target,
        }
        None
    }

    fn push_text(&mut self, more: &str) {
        if let Some(TextTarget::Pmid(text) | TextTarget::Section { text, .. }) = &mut self.target {
            text.push_str(more);
        }
    }
}
