//! The texts of the page *Reports*.

use parlor_protocol::{RunStatus, job::Job, number_format::group_digits};

pub(super) use crate::components::texts::{
    CANCEL, DELETE, JOB_CONTINUE as CONTINUE, JOB_NEW_LIMIT as NEW_LIMIT, JOB_NO_AMOUNT as NO_AMOUNT,
    LOADING, TRY_AGAIN,
};

pub(super) const LEAD: &str = "A report reads what PubMed has for a stream: which articles matter, what each says, and what is new since the last time. It goes on while this page is closed.";
pub(super) const NEW: &str = "New report";
pub(super) const NOT_SEEN: &str = "New: ";
pub(super) const EMPTY: &str = "There are no reports yet";
pub(super) const EMPTY_HELP: &str = "Make the first one of a stream.";
pub(super) const NO_STREAMS: &str = "There are no streams yet";
pub(super) const NO_STREAMS_HELP: &str =
    "A report is made of a stream: a PubMed query that you keep, with what you want to know of each article.";
pub(super) const SHOW_STREAMS: &str = "Streams";
pub(super) const NEW_STREAM: &str = "New stream";
pub(super) const LIST_FAILED: &str = "The reports could not be loaded";
pub(super) const NOTHING_HERE: &str = "There is nothing at this address.";
pub(super) const NOT_FOUND: &str = "There is no such report.";
pub(super) const NO_PUBMED: &str = "PubMed can’t be searched here";

/// The state of a report in a word or two.
pub(super) fn state(job: &Job) -> String {
    match job.status {
        RunStatus::Complete => "Complete".into(),
        RunStatus::Running => [
            "Being made: ",
            &group_digits(job.progress.done as u64),
            " of ",
            &group_digits(job.progress.total as u64),
            " steps",
        ]
        .concat(),
        RunStatus::Waiting => "Waits for you".into(),
        RunStatus::Stopped => "Stopped".into(),
        RunStatus::Failed => "Failed".into(),
        RunStatus::Interrupted => "Interrupted".into(),
    }
}

pub(super) fn cost_of(cost: &str, limit: &str) -> String {
    [cost, " of ", limit].concat()
}

pub(super) fn delete_name(title: &str) -> String {
    [DELETE, ": ", title].concat()
}

pub(super) fn delete_title(title: &str) -> String {
    ["Delete the report “", title, "”?"].concat()
}

pub(super) const DELETE_TEXT: &str =
    "It is deleted for good, with all that was read for it. Your stream and your saved articles stay.";

// The form
pub(super) const BACK: &str = "All reports";
pub(super) const NEW_HELP: &str = "The model judges each article that the stream finds, reads your questions out of the relevant ones, and summarises them. Each sentence has the passage that it rests on. What the last report has read with the same model and questions is not read again.";
pub(super) const NEEDS_SCRIPTS: &str = "Reports are started with scripts only.";
pub(super) const STREAM: &str = "Stream";
pub(super) const STREAM_GONE: &str = "The stream of this link was deleted. Choose another one.";
pub(super) const MODEL: &str = "Model";
pub(super) const DEFAULT_MODEL: &str = "The default model";
pub(super) const LIMIT: &str = "Limit, in US dollars";
pub(super) const NO_LIMIT: &str = "No limit";
pub(super) const LIMIT_HELP: &str =
    "At the limit, the report waits for you, and keeps what it has. Your daily limits apply, too.";
pub(super) const START: &str = "Make the report";
pub(super) const REPEAT: &str = "Repeat on a schedule";
pub(super) const STARTING: &str = "Starting…";

// A report
pub(super) const REPORT_FAILED: &str = "The report could not be loaded";
pub(super) const AGAIN: &str = "Make again";
pub(super) const EXPORT: &str = "Export";
pub(super) const MARKDOWN: &str = "Markdown";
pub(super) const HTML: &str = "HTML";
pub(super) const CSV: &str = "CSV (all articles)";
pub(super) const BIBTEX: &str = "BibTeX";
pub(super) const RIS: &str = "RIS";
pub(super) const TABS: &str = "Parts of the report";
pub(super) const SUMMARY: &str = "Summary";
pub(super) const ARTICLES: &str = "Articles";

// Its progress
pub(super) const BEING_MADE: &str = "The report is being made. You can close this page.";

pub(super) fn paused_title(job: &Job) -> &'static str {
    match job.status {
        RunStatus::Waiting => "The report waits for you",
        RunStatus::Stopped => "The report is stopped",
        RunStatus::Failed => "The report could not be finished",
        _ => "The report was interrupted",
    }
}

pub(super) fn kept(steps: &str) -> String {
    match steps {
        "1" => "1 step is done and kept.".into(),
        steps => [steps, " steps are done and kept."].concat(),
    }
}

// The summary
pub(super) const QUERY: &str = "Query:";
pub(super) const NO_SOURCE: &str = "no source found";
pub(super) const COMPARISON: &str = "Changes";
pub(super) const NEW_ARTICLES: &str = " new";
pub(super) const MOVED_ARTICLES: &str = " in another category";
pub(super) const GONE_ARTICLES: &str = " no longer there";
pub(super) const SAME_ARTICLES: &str = "The same articles in the same categories";
pub(super) const SINCE: &str = "since the report of";
pub(super) const SHOW_GONE: &str = "What is no longer there";
pub(super) const RELEVANT_ARTICLES: &str = "Relevant articles";
pub(super) const NO_CATEGORY: &str = "In no category";
pub(super) const NOT_READ: &str = "Not read";
pub(super) const RETRACTED: &str = "Retracted";
pub(super) const IS_NEW: &str = "New";

pub(super) fn extent(found: &str, read: &str, relevant: &str) -> String {
    [found, " found · ", read, " looked at · ", relevant, " relevant"].concat()
}

pub(super) fn unsupported(count: usize, number: &str) -> String {
    match count {
        1 => "1 sentence has no source: its article does not have the words that it quotes.".into(),
        _ => [
            number,
            " sentences have no source: their articles do not have the words that they quote.",
        ]
        .concat(),
    }
}

pub(super) fn moved_from(category: Option<&str>) -> String {
    match category {
        Some(category) => ["Was in “", category, "”"].concat(),
        None => "Was in no category".into(),
    }
}

// The articles
pub(super) const FIND: &str = "Find in this report";
pub(super) const WHICH: &str = "Which articles";
pub(super) const RELEVANT: &str = "Relevant";
pub(super) const ONLY_NEW: &str = "New";
pub(super) const NOT_RELEVANT: &str = "Not relevant";
pub(super) const ALL: &str = "All";
pub(super) const ARTICLE: &str = "Article";
pub(super) const CATEGORY: &str = "Category";
pub(super) const PUBLISHED: &str = "Published";

pub(super) fn articles(count: &str) -> String {
    [count, if count == "1" { " article" } else { " articles" }].concat()
}

// An article
pub(super) const BACK_TO_ARTICLES: &str = "All articles";
pub(super) const NO_ARTICLE: &str = "The report does not have this article.";
pub(super) const ARTICLE_FAILED: &str = "The article could not be loaded";
pub(super) const RETRACTED_LONG: &str = "This article was retracted.";
pub(super) const NOT_JUDGED: &str = "Not judged";
pub(super) const NO_ANSWER: &str = "No answer";
pub(super) const ABSTRACT: &str = "Abstract";
pub(super) const NO_ABSTRACT: &str = "PubMed has no abstract for this article.";
pub(super) const SAVE_OR_NOTE: &str = "Open in Literature";

pub(super) fn quoted(text: &str) -> String {
    ["“", text, "”"].concat()
}

// The chat beside the page
pub(super) const CHAT_SEES: &str =
    "The assistant sees what is open on this page: the report, what is new in it, and the article.";
pub(super) const ARTICLE_QUESTIONS: &[&str] = &[
    "How sound are its methods?",
    "What does it say that the others do not?",
    "Save it with a note for me",
];
pub(super) const REPORT_QUESTIONS: &[&str] = &[
    "What is new, in three sentences?",
    "Where do the articles disagree?",
    "Which should I read first?",
];
pub(super) const LIST_QUESTIONS: &[&str] = &[
    "What was new in my last report?",
    "Which streams could I make a report of?",
];
