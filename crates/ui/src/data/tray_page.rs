//! The page as context of the chat in the tray: what is on the screen, and suggested questions.

use leptos::prelude::*;

use super::{state::DataState, texts};
use crate::state::{remote::Remote, tray::TrayPage};
use parlor_protocol::{ErrorCode, PageContext, data::DataCatalogue};

/// Returns the tray chat's view of this page: the context of a message, suggested questions and the placeholder.
pub fn tray_page(state: DataState) -> TrayPage {
    TrayPage {
        context: Callback::new(move |()| state.context()),
        about: texts::CHAT_ABOUT,
        suggested_questions: Callback::new(move |()| state.questions()),
        placeholder: Callback::new(move |()| {
            let placeholder = state.with_catalogue(|catalogue| catalogue.placeholder.clone());
            Some(placeholder).filter(|placeholder| !placeholder.is_empty())
        }),
    }
}

impl DataState {
    /// The context of a message: the open table, and the words in the search box.
    fn context(self) -> PageContext {
        let mut location = self.location.get_untracked();
        // A missing table is not open: a mistyped URL must not prevent a message.
        if matches!(&*self.table.read_untracked(), Remote::Failed(error) if error.code == ErrorCode::NotFound)
        {
            location.table = None;
        }
        location.to_page_context()
    }

    /// Suggested questions about what is open.
    fn questions(self) -> Vec<String> {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        if self.location.with(|location| location.table.is_some()) {
            return own(&texts::TABLE_QUESTIONS);
        }
        self.with_catalogue(
            |DataCatalogue {
                 questions, databases, ..
             }| match (&questions[..], &databases[..]) {
                (_, []) => Vec::new(),
                ([], _) => own(&texts::GENERAL_QUESTIONS),
                (questions, _) => questions.to_vec(),
            },
        )
    }
}
