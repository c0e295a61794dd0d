//! The sources that a model server sends along with its answer.

use super::wire::{Annotation, Citation, CitedPage};
use crate::sources::{MAX_SOURCES, web_url};
use parlor_protocol::CitedSource;

/// All sources so far.
#[derive(Debug, Default)]
pub struct CitationCollector {
    /// Numbered by the server: `[3]` in the text is the third.
    numbered: Vec<CitedPage>,
    /// True if the numbers are those of `citations`.
    has_citations: bool,
    /// Unnumbered annotations, without duplicates.
    annotated: Vec<CitedPage>,
}

impl CitationCollector {
    /// Processes Perplexity's lists, which are sent with each chunk. Returns all sources if they have
    /// changed. An empty list changes nothing.
    pub fn take_lists(
        &mut self,
        citations: Option<Vec<Citation>>,
        results: Option<Vec<CitedPage>>,
    ) -> Option<Vec<CitedSource>> {
        let citations = citations.unwrap_or_default();
        let results = results.unwrap_or_default();
        // The citations have the numbers. Results that arrive without them only add titles.
        let mut pages: Vec<CitedPage> = if !citations.is_empty() {
            self.has_citations = true;
            citations.into_iter().map(Into::into).collect()
        } else if self.has_citations {
            self.numbered.clone()
        } else {
            results.clone()
        };
        pages.truncate(MAX_SOURCES);
        for page in &mut pages {
            page.url = web_url(&page.url);
        }
        for page in pages.iter_mut().filter(|page| page.title.is_none()) {
            let mut known = results.iter().chain(&self.numbered);
            page.title = known.find_map(|known| known.title.clone().filter(|_| known.url == page.url));
        }
        if pages.is_empty() || pages == self.numbered {
            return None;
        }
        self.numbered = pages;
        Some(self.sources())
    }

    /// Processes annotations of the text.
    pub fn take_annotations(&mut self, annotations: Vec<Annotation>) -> Option<Vec<CitedSource>> {
        let before = self.annotated.len();
        for mut page in annotations.into_iter().filter_map(Annotation::into_page) {
            page.url = web_url(&page.url);
            let mut known = self.numbered.iter().chain(&self.annotated);
            let is_same = |known: &CitedPage| match page.url.is_empty() {
                true => known.url.is_empty() && known.title == page.title,
                false => known.url == page.url,
            };
            if self.annotated.len() < MAX_SOURCES && !known.any(is_same) {
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
            passage: None,
        };
        pages
            .filter(|(page, _)| !page.url.is_empty() || page.title.is_some())
            .map(source)
            .collect()
    }
}
