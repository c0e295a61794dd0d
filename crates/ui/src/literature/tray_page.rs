//! The page as context of the chat in the tray: what is on the screen, and suggested questions.

use leptos::prelude::*;

use super::{state::LiteratureState, texts};
use crate::state::{remote::Remote, tray::TrayPage};
use parlor_protocol::{
    ErrorCode, PageContext,
    literature::{self, Article, LiteratureTab},
};

/// The maximum number of articles in the context: no more are on the screen.
const MAX_CONTEXT_ARTICLES: usize = 50;

fn pmids<'a>(articles: impl Iterator<Item = &'a Article>) -> Vec<String> {
    articles
        .take(MAX_CONTEXT_ARTICLES)
        .map(|article| article.pmid.clone())
        .collect()
}

/// Returns the tray chat's view of this page: the context of a message, and suggested questions.
pub fn tray_page(state: LiteratureState) -> TrayPage {
    TrayPage {
        context: Callback::new(move |()| state.context()),
        about: texts::CHAT_SEES,
        suggested_questions: Callback::new(move |()| {
            state.questions().iter().map(|&text| text.to_owned()).collect()
        }),
        placeholder: Callback::new(|()| None),
    }
}

impl LiteratureState {
    /// The context of a message: what is on the screen.
    fn context(self) -> PageContext {
        let mut location = self.location.get_untracked();
        // A missing article is not open: a mistyped URL must not prevent a message.
        let is_missing = matches!(
            &*self.article.read_untracked(),
            Remote::Failed(error) if error.code == ErrorCode::NotFound
        );
        location.article = location
            .article
            .filter(|pmid| !is_missing && literature::is_pmid(pmid));
        // A deleted stream is not open.
        location.stream = untrack(|| self.open_stream()).map(|stream| stream.id);
        let results = match location.tab {
            LiteratureTab::Search => match &*self.results.read_untracked() {
                Remote::Ready(found) => pmids(found.articles.iter()),
                _ => Vec::new(),
            },
            LiteratureTab::Saved => untrack(|| {
                self.with_library(|library| {
                    let shown = library
                        .articles
                        .iter()
                        .filter(|saved| saved.matches(&location.query));
                    pmids(shown.map(|saved| &saved.article))
                })
            }),
        };
        location.to_page_context(results)
    }

    /// Suggested questions about what is open.
    fn questions(self) -> &'static [&'static str] {
        let location = self.location.get();
        if location.article.is_some() {
            let is_open = self.article.with(|article| matches!(article, Remote::Ready(_)));
            return if is_open {
                texts::ARTICLE_QUESTIONS
            } else {
                texts::GENERAL_QUESTIONS
            };
        }
        let is_found = self
            .results
            .with(|found| matches!(found, Remote::Ready(found) if !found.articles.is_empty()));
        let is_saved = self.with_library(|library| !library.articles.is_empty());
        match location.tab {
            LiteratureTab::Search if self.search_problem().is_some() => &texts::GENERAL_QUESTIONS[1..],
            LiteratureTab::Search if is_found => texts::LIST_QUESTIONS,
            LiteratureTab::Search if !location.query.is_empty() => &texts::LIST_QUESTIONS[2..],
            LiteratureTab::Saved if is_saved => &texts::LIST_QUESTIONS[..2],
            _ => texts::GENERAL_QUESTIONS,
        }
    }
}
