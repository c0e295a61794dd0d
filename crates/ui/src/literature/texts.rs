//! The texts of the page *Literature*.

pub(super) use crate::components::texts::{
    DISMISS, FULL_TEXT, LOADING, SAVE, SAVING, SHOW_ALL, TRY_AGAIN, UNDO,
};

// The page
pub(super) const LITERATURE: &str = "Literature";
pub(super) const NOTHING_HERE: &str = "There is nothing at this address.";
pub(super) const SEARCH: &str = "Search";
pub(super) const SAVED: &str = "Saved";
/// Around the title.
pub(super) const REMOVED: (&str, &str) = ("Removed “", "”");

// A search
pub(super) const NO_PUBMED: &str = "PubMed can’t be searched here";
pub(super) const SAVED_STAYS: &str = " What you have saved is still here.";
pub(super) const SHOW_SAVED: &str = "Show what you have saved";
pub(super) const SEARCH_PUBMED: &str = "Search PubMed";
pub(super) const QUERY_EXAMPLE: &str = "Search PubMed, such as asthma[mesh] AND 2024[pdat]";
pub(super) const ORDER: &str = "Order";
pub(super) const BEST_MATCH: &str = "Best match";
pub(super) const NEWEST: &str = "Newest";
pub(super) const SAVE_AS_STREAM: &str = "Save as a stream";
pub(super) const SEARCHING: &str = "Searching PubMed…";
pub(super) const SEARCH_FAILED: &str = "The search did not work";
pub(super) const HELP_TITLE: &str = "Find articles, and keep those that matter";
pub(super) const HELP: &str = "Search in plain words or in PubMed’s syntax. Save a query as a stream to come back to it. The assistant next to this page sees what you see.";

// Its results
pub(super) const RESULTS: &str = "Results";
pub(super) const PAGES: &str = "Pages";
pub(super) const PREVIOUS_PAGE: &str = "Previous page";
pub(super) const NEXT_PAGE: &str = "Next page";
pub(super) const NOTHING_FOUND: &str = "Nothing was found";
pub(super) const EMPTY_PAGE: &str = "Nothing can be shown on this page";
/// Around the query.
pub(super) const NO_ARTICLES: (&str, &str) = ("PubMed has no articles for “", "”. Try other or fewer words.");

/// Around the query.
pub(super) fn none_on_page(total: &str) -> (String, &'static str) {
    (
        ["PubMed has ", total, " articles for “"].concat(),
        "”, but gave none for this page. Go back to the first page, or search again.",
    )
}

pub(super) fn articles(count: &str) -> String {
    [count, if count == "1" { " article" } else { " articles" }].concat()
}

/// The number of articles, and the page of them.
pub(super) fn articles_on_page(count: &str, page: &str, pages: &str) -> String {
    [&articles(count), " · page ", page, " of ", pages].concat()
}

// The table of what is saved
pub(super) const AS_TABLE: &str = "Show as a table with columns";
pub(super) const AS_LIST: &str = "Show as a list";
pub(super) const ARTICLE: &str = "Article";
pub(super) const JOURNAL: &str = "Journal";
pub(super) const PUBLISHED: &str = "Published";
pub(super) const NOTE: &str = "Note";

// What is saved
pub(super) const NOTHING_SAVED: &str = "Nothing is saved yet";
pub(super) const NOTHING_SAVED_HINT: &str = "Save an article in a search to find it here, with your notes. The assistant can save one too, if you allow it.";
pub(super) const SAVED_FAILED: &str = "What you have saved could not be loaded";
pub(super) const FIND_SAVED: &str = "Find in what you saved";
pub(super) const SAVED_ARTICLES: &str = "Saved articles";

pub(super) fn number_saved(total: &str) -> String {
    [total, " saved"].concat()
}

pub(super) fn some_saved(found: &str, total: &str) -> String {
    [found, " of ", total, " saved"].concat()
}

// An article
pub(super) const LOADING_ARTICLE: &str = "Loading the article…";
pub(super) const ARTICLE_FAILED: &str = "The article could not be loaded";
pub(super) const BACK_TO_LIST: &str = "Back to the list";
pub(super) const ABSTRACT: &str = "Abstract";
pub(super) const NO_ABSTRACT: &str = "PubMed has no abstract for this article.";
/// Before the reason.
pub(super) const ABSTRACT_FAILED: &str = "The abstract can’t be loaded now. ";

pub(super) fn save_article(title: &str) -> String {
    ["Save “", title, "”"].concat()
}

pub(super) fn saved_article(title: &str) -> String {
    ["Saved “", title, "”"].concat()
}

pub(super) fn not_saved(title: &str, is_certain: bool, reason: &str) -> String {
    let what = if is_certain {
        "” was not saved. "
    } else {
        "” may not be saved. "
    };
    ["“", title, what, reason].concat()
}

// A note
pub(super) const YOUR_NOTE: &str = "Your note";
pub(super) const SAVE_NOTE: &str = "Save the note";
pub(super) const NOTE_SAVED: &str = "The note is saved.";
pub(super) const NOTE_EMPTIED: &str = "The note was emptied elsewhere.";
pub(super) const NOTE_OVERWRITTEN: &str = " Saving overwrites that.";

pub(super) fn note_changed(note: &str) -> String {
    ["The note was changed elsewhere to: “", note, "”"].concat()
}

// Streams
pub(super) const STREAMS: &str = "Streams";
pub(super) const OPEN_STREAM: &str = "Open stream";
pub(super) const EDIT_STREAM: &str = "Edit the stream";
pub(super) const NO_INSTRUCTIONS: &str = "The assistant has no instructions for it.";
pub(super) const QUERY: &str = "Query";

// A proposed query
pub(super) const SEARCH_HERE: &str = "Search in Literature";
pub(super) const SEARCH_HERE_HINT: &str = "This opens the page Literature, together with this conversation.";

// The chat beside the page
pub(super) const CHAT_SEES: &str =
    "The assistant sees what is open on this page: the query, what was found, and the article.";
pub(super) const ARTICLE_QUESTIONS: &[&str] = &[
    "What is this about?",
    "How sound are its methods?",
    "What else should I read about this?",
];
/// The last one is about the query.
pub(super) const LIST_QUESTIONS: &[&str] = &[
    "What do these have in common?",
    "Which of these should I read first?",
    "Suggest a better query",
];
pub(super) const GENERAL_QUESTIONS: &[&str] = &["Help me to find a good query", "What have I saved so far?"];
