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
const LONGEST: usize = 10_000;

/// The abstracts by their articles' PMIDs; an article without one is left out. The sections of an abstract become its lines.
///
/// # Errors
///
/// If it is no XML.
pub fn read(xml: &str) -> Result<HashMap<String, String>, Error> {
    let mut reader = Reader::from_str(xml);
    let mut abstracts = HashMap::new();
    let mut article = Article::default();
    loop {
        match reader.read_event()? {
            Event::Start(tag) => article.opens(&tag),
            Event::End(tag) => {
                if let Some((pmid, text)) = article.closes(tag.name().into_inner()) {
                    abstracts.insert(pmid, text);
                }
            }
            Event::Text(text) => article.says(&text.xml10_content()),
            Event::CData(text) => article.says(&text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref()? {
                Some(character) => article.says(character.encode_utf8(&mut [0; 4])),
                // Entities of its own would be defined by somebody whom nobody knows.
                None => article.says(resolve_predefined_entity(&name.xml10_content()).unwrap_or_default()),
            },
            Event::Eof => return Ok(abstracts),
            _ => {}
        }
    }
}

/// An article that is being read.
#[derive(Default)]
struct Article {
    /// The first one is its own; those of articles that it cites follow.
    pmid: Option<String>,
    sections: Vec<String>,
    in_abstract: bool,
    /// Where text goes just now.
    target: Option<Target>,
}

enum Target {
    Pmid(String),
    Section { label: String, text: String },
}

impl Article {
    fn opens(&mut self, tag: &BytesStart) {
        match tag.name().into_inner() {
            "PubmedArticle" | "PubmedBookArticle" => *self = Self::default(),
            "PMID" if self.pmid.is_none() => self.target = Some(Target::Pmid(String::new())),
            "Abstract" => self.in_abstract = true,
            "AbstractText" if self.in_abstract => {
                let label = tag.try_get_attribute("Label").ok().flatten();
                let label = label.and_then(|label| label.normalized_value(XmlVersion::Implicit1_0).ok());
                self.target = Some(Target::Section {
                    label: label.unwrap_or_default().into_owned(),
                    text: String::new(),
                });
            }
            _ => {}
        }
    }

    /// Gives the abstract with the article's end.
    fn closes(&mut self, tag: &str) -> Option<(String, String)> {
        match (tag, self.target.take()) {
            ("PMID", Some(Target::Pmid(pmid))) => self.pmid = Some(pmid.trim().to_owned()),
            ("AbstractText", Some(Target::Section { label, text })) => {
                let text = text::line(&text, LONGEST);
                self.sections.push(if label.is_empty() {
                    text
                } else {
                    format!("{}: {text}", text::line(&label, 100))
                });
            }
            ("Abstract", _) => self.in_abstract = false,
            ("PubmedArticle" | "PubmedBookArticle", _) => {
                let text = text::shortened(std::mem::take(&mut self.sections).join("\n"), LONGEST);
                return self.pmid.take().zip((!text.is_empty()).then_some(text));
            }
            // The end of what is emphasised in a text.
            (_, target) => self.target = target,
        }
        None
    }

    fn says(&mut self, more: &str) {
        if let Some(Target::Pmid(text) | Target::Section { text, .. }) = &mut self.target {
            text.push_str(more);
        }
    }
}
