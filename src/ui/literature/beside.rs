//! The page as the chat beside it is told of it: what is on the screen, and what one may ask about it.

use leptos::prelude::*;

use super::desk::{Desk, Loaded};
use crate::{
    protocol::{
        ErrorCode, PageContext,
        literature::{self, Article, Tab},
    },
    ui::live::Beside,
};

/// Questions about an article, about a list (the last about its query), and about no more than the page.
const OF_ARTICLE: &[&str] = &[
    "What is this about?",
    "How sound are its methods?",
    "What should I read beside it?",
];
const OF_LIST: &[&str] = &[
    "What do these have in common?",
    "Which of these should I read first?",
    "Suggest a better query",
];
const OF_NOTHING: &[&str] = &["Help me to find a good query", "What have I saved so far?"];

/// The most articles that the model is told of: no more are on the screen.
const MAX_TOLD: usize = 50;

fn pmids<'a>(articles: impl Iterator<Item = &'a Article>) -> Vec<String> {
    articles
        .take(MAX_TOLD)
        .map(|article| article.pmid.clone())
        .collect()
}

/// The page, as the chat beside it knows it.
pub fn beside(desk: Desk) -> Beside {
    Beside {
        context: Callback::new(move |()| desk.context()),
        about: "The assistant sees what is open on this page: the query, what was found, and the article.",
        questions: Callback::new(move |()| desk.questions()),
    }
}

impl Desk {
    /// The context of a message: what is on the screen.
    fn context(self) -> PageContext {
        let mut address = self.address.get_untracked();
        // What is not there is not open: a mistyped address is no reason not to talk.
        let is_missing = matches!(
            &*self.article.read_untracked(),
            Loaded::Failed(error) if error.code == ErrorCode::NotFound
        );
        address.article = address
            .article
            .filter(|pmid| !is_missing && literature::is_pmid(pmid));
        // One that is deleted is not open.
        address.stream = untrack(|| self.stream()).map(|stream| stream.id);
        let results = match address.tab {
            Tab::Search => match &*self.found.read_untracked() {
                Loaded::Ready(found) => pmids(found.articles.iter()),
                _ => Vec::new(),
            },
            Tab::Saved => untrack(|| {
                self.with_library(|library| {
                    let shown = library.articles.iter().filter(|saved| saved.has(&address.query));
                    pmids(shown.map(|saved| &saved.article))
                })
            }),
        };
        address.context(results)
    }

    /// Questions about what is open.
    fn questions(self) -> &'static [&'static str] {
        let address = self.address.get();
        if address.article.is_some() {
            let is_open = self.article.with(|article| matches!(article, Loaded::Ready(_)));
            return if is_open { OF_ARTICLE } else { OF_NOTHING };
        }
        let is_found = self
            .found
            .with(|found| matches!(found, Loaded::Ready(found) if !found.articles.is_empty()));
        let is_saved = self.with_library(|library| !library.articles.is_empty());
        match address.tab {
            Tab::Search if self.no_search().is_some() => &OF_NOTHING[1..],
            Tab::Search if is_found => OF_LIST,
            Tab::Search if !address.query.is_empty() => &OF_LIST[2..],
            Tab::Saved if is_saved => &OF_LIST[..2],
            _ => OF_NOTHING,
        }
    }
}
