//! The sources that a model server names beside its answer.

use super::wire::{Annotation, Page};
use crate::protocol::Source;

/// The most that are remembered; no answer has more that anybody would look at.
const MAX: usize = 200;

/// All that was named so far.
#[derive(Debug, Default)]
pub struct Cited {
    /// Numbered by the server: `[3]` in the text is the third.
    numbered: Vec<Page>,
    /// Named in passing, each once.
    annotated: Vec<Page>,
}

impl Cited {
    /// Takes Perplexity's lists, which are sent with each chunk. Gives all sources if they are others than before; an empty list says
    /// nothing about those.
    pub fn lists(
        &mut self,
        citations: Option<Vec<String>>,
        results: Option<Vec<Page>>,
    ) -> Option<Vec<Source>> {
        let mut results = results.unwrap_or_default();
        let pages = match citations.filter(|citations| !citations.is_empty()) {
            None => results,
            Some(citations) => citations
                .into_iter()
                .map(|url| Page {
                    title: results
                        .iter_mut()
                        .find(|page| page.url == url)
                        .and_then(|page| page.title.take()),
                    url,
                })
                .collect(),
        };
        let is_same = |(old, new): (&Page, &Page)| old.url == new.url;
        let is_known = pages.len() == self.numbered.len() && self.numbered.iter().zip(&pages).all(is_same);
        if is_known || pages.is_empty() {
            return None;
        }
        self.numbered = pages;
        self.numbered.truncate(MAX);
        Some(self.sources())
    }

    /// Takes annotations of the text.
    pub fn annotations(&mut self, annotations: Vec<Annotation>) -> Option<Vec<Source>> {
        let before = self.annotated.len();
        for page in annotations
            .into_iter()
            .filter_map(|annotation| annotation.url_citation)
        {
            let mut known = self.numbered.iter().chain(&self.annotated);
            if self.annotated.len() < MAX && known.all(|known| known.url != page.url) {
                self.annotated.push(page);
            }
        }
        (self.annotated.len() > before).then(|| self.sources())
    }

    fn sources(&self) -> Vec<Source> {
        let pages = self.numbered.iter().chain(&self.annotated).zip(1..);
        let source = |(page, number): (&Page, usize)| Source {
            number,
            title: page.title.clone().unwrap_or_default(),
            url: page.url.clone(),
        };
        pages.map(source).collect()
    }
}
