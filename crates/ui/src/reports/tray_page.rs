//! The page as context of the chat in the tray: what is open, and suggested questions.

use leptos::prelude::*;

use super::{state::ReportsState, texts};
use crate::state::{remote::Remote, tray::TrayPage};
use parlor_protocol::{
    PageContext,
    report::{OpenReport, REPORTS_PAGE},
};

/// Returns the tray chat's view of this page.
pub fn tray_page(state: ReportsState) -> TrayPage {
    TrayPage {
        context: Callback::new(move |()| state.context()),
        about: texts::CHAT_SEES,
        suggested_questions: Callback::new(move |()| {
            state.questions().iter().map(|&text| text.to_owned()).collect()
        }),
        placeholder: Callback::new(|()| None),
    }
}

impl ReportsState {
    /// The context of a message. What does not exist is not open: a mistyped URL must not prevent a message.
    fn context(self) -> PageContext {
        let open = untrack(|| self.open());
        let is_there = |open: &OpenReport| matches!(&*self.report.read_untracked(), Remote::Ready(view) if view.job.id == open.report_id);
        let Some(mut open) = open.filter(is_there) else {
            return PageContext::for_page(REPORTS_PAGE.name);
        };
        if !matches!(&*self.article.read_untracked(), Remote::Ready(_)) {
            open.article = None;
        }
        open.to_page_context()
    }

    /// Suggested questions about what is open.
    fn questions(self) -> &'static [&'static str] {
        let has_result = self
            .report
            .with(|report| matches!(report, Remote::Ready(view) if view.report.is_some()));
        match self.open() {
            Some(open) if open.article.is_some() => texts::ARTICLE_QUESTIONS,
            Some(_) if has_result => texts::REPORT_QUESTIONS,
            _ => texts::LIST_QUESTIONS,
        }
    }
}
