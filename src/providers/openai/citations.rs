//! The sources that a model server sends along with its answer.

use super::wire::{Annotation, CitedPage};
use crate::{protocol::CitedSource, providers::sources::MAX_SOURCES};

/// All sources so far.
#[derive(Debug, Default)]
pub struct CitationCollector {
    /// Numbered by the server: `[3]` in the text is the third.
    numbered: Vec<CitedPage>,
    /// Unnumbered annotations, without duplicates.
    annotated: Vec<CitedPage>,
}

impl CitationCollector {
    /// Processes Perplexity's lists, which are sent with each chunk. Returns all sources if they have
    /// changed. An empty list changes nothing.
    pub fn take_lists(
        &mut self,
        citations: Option<Vec<String>>,
        results: Option<Vec<CitedPage>>,
    ) -> Option<Vec<CitedSource>> {
        let mut results = results.unwrap_or_default();
        let pages = match citations.filter(|citations| !citations.is_empty()) {
            None => results,
            Some(citations) => citations
                .into_iter()
                .map(|url| CitedPage {
                    title: results
                        .iter_mut()
                        .find(|page| page.url == url)
                        .and_then(|page| page.title.take()),
                    url,
                })
                .collect(),
        };
        let is_same = |(old, new): (&CitedPage, &CitedPage)| old.url == new.url;
        let is_known = pages.len() == self.numbered.len() && self.numbered.iter().zip(&pages).all(is_same);
        if is_known || pages.is_empty() {
            return None;
        }
        self.numbered = pages;
        self.numbered.truncate(MAX_SOURCES);
        Some(self.sources())
    }

    /// Processes annotations of the text.
    pub fn take_annotations(&mut self, annotations: Vec<Annotation>) -> Option<Vec<CitedSource>> {
        let before = self.annotated.len();
        for page in annotations
            .into_iter()
            .filter_map(|annotation| annotation.url_citation)
        {
            let mut known = self.numbered.iter().chain(&self.annotated);
            if self.annotated.len() < MAX_SOURCES && known.all(|known| known.url != page.url) {
                self.annotated.push(page);
            }
        }
        (self.annotated.len() > before).then(|| self.sources())
    }

    fn sources(&self) -> Vec<CitedSource> {
        let pages = self.numbered.iter().chain(&self.annotated).zip(1..);
        let source = |(page, number): (&CitedPage, usize)| CitedSource {
            number,
            title: page.title.clone().unwrap_or_default(),
            url: page.url.clone(),
        };
        pages.map(source).collect()
    }
}
