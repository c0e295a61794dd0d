//! Reads abstracts out of the XML in which PubMed gives articles:
//! <https://dtd.nlm.nih.gov/ncbi/pubmed/doc/out/250101/index.html>.

use std::collections::HashMap;

use quick_xml::{
    Error, Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use crate::text;

/// How much of an abstract is kept, in characters.
const MAX_ABSTRACT_CHARS: usize = 10_000;

/// The abstracts by their articles' PMIDs; an article without one is left out. The sections of an abstract become its lines.
///
/// # Errors
///
/// If it is no XML.
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
                // Entities of its own would be defined by somebody whom nobody knows.
                None => {
                    article.push_text(resolve_predefined_entity(&name.xml10_content()).unwrap_or_default())
                }
            },
            Event::Eof => return Ok(abstracts),
            _ => {}
        }
    }
}

/// An article that is being read.
#[derive(Default)]
struct ArticleParser {
    /// The first one is its own; those of articles that it cites follow.
    pmid: Option<String>,
    sections: Vec<String>,
    in_abstract: bool,
    /// Where text goes just now.
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

    /// Gives the abstract with the article's end.
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
                    text::truncate_chars(std::mem::take(&mut self.sections).join("\n"), MAX_ABSTRACT_CHARS);
                return self.pmid.take().zip((!text.is_empty()).then_some(text));
            }
            // The end of what is emphasised in a text.
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
