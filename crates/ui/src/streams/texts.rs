//! The texts of the pages *Streams* and *Edit stream*.

pub(super) const NEEDS_SCRIPTS: &str = "Streams are changed with scripts only. Without them, the articles of a stream can be read on the page Literature.";
pub(super) const STREAMS_LEAD: &str =
    "A stream is a query that you keep, with what it is for and what to read out of its articles.";
pub(super) const NEW_STREAM: &str = "New stream";
pub(super) const NO_STREAMS: &str = "There are no streams yet";
pub(super) const NO_STREAMS_HELP: &str =
    "Write the first one yourself, or ask the assistant to suggest some.";
pub(super) const LOAD_FAILED: &str = "The streams could not be loaded";
pub(super) const TRY_AGAIN: &str = "Try again";
pub(super) const LOADING: &str = "Loading…";
pub(super) const REPORT: &str = "Report";
pub(super) const SEARCH: &str = "Search";
pub(super) const NOT_FOUND: &str = "There is no stream at this address.";
pub(super) const NOTHING_HERE: &str = "There is nothing at this address.";
pub(super) const OPEN_AS_NEW: &str = "Open as a new stream";
pub(super) const ABOUT_OPENING: &str =
    "This opens a new stream with these texts, together with this conversation. You save it there.";

pub(super) const EDIT_TITLE: &str = "Edit stream";
pub(super) const BACK: &str = "All streams";
pub(super) const NAME: &str = "Name";
pub(super) const PURPOSE: &str = "Purpose";
pub(super) const PURPOSE_PLACEHOLDER: &str = "Such as: to follow new trials of asthma in children.";
pub(super) const QUERY: &str = "Query for PubMed";
pub(super) const INSTRUCTIONS: &str = "Instructions for reading";
pub(super) const INSTRUCTIONS_PLACEHOLDER: &str =
    "Such as: prefer randomised trials, and name the sample size.";
pub(super) const SCHEMA: &str = "Schema";
pub(super) const SCHEMA_HELP: &str = "What to read out of each article.";
pub(super) const FIELD_NAME: &str = "Field";
pub(super) const FIELD_QUESTION: &str = "Question";
pub(super) const FIELD_TYPE: &str = "Type";
pub(super) const ADD_FIELD: &str = "Add a field";
pub(super) const CATEGORIES: &str = "Categories";
pub(super) const CATEGORIES_HELP: &str = "The groups in which articles are presented.";
pub(super) const CATEGORY_NAME: &str = "Category";
pub(super) const CATEGORY_DESCRIPTION: &str = "Which articles belong to it";
pub(super) const ADD_CATEGORY: &str = "Add a category";
pub(super) const REMOVE: &str = "Remove";
pub(super) const SAVE: &str = "Save";
pub(super) const SAVING: &str = "Saving…";
pub(super) const DISCARD: &str = "Discard changes";
pub(super) const DELETE: &str = "Delete";
pub(super) const DELETE_PERMANENTLY: &str = "Delete permanently";
pub(super) const UNSAVED: &str = "Not saved. Kept on this device.";
pub(super) const CHANGED_ELSEWHERE: &str =
    "This stream was changed elsewhere. Saving replaces those changes.";
pub(super) const SAVED: &str = "The stream is saved.";
pub(super) const DELETED: &str = "The stream is deleted. Saved articles stay.";
pub(super) const DISCARDED: &str = "Your changes are discarded.";
pub(super) const COUNTING: &str = "Counting…";

pub(super) const ABOUT_EDIT: &str =
    "The assistant sees the form as it stands here, and proposes changes that you accept or reject.";
pub(super) const ABOUT_LIST: &str = "The assistant sees your streams and can suggest new ones.";
pub(super) const EDIT_QUESTIONS: [&str; 3] = [
    "Suggest a better query",
    "What should I read out of each article?",
    "Suggest categories",
];
pub(super) const LIST_QUESTIONS: [&str; 2] = ["Suggest a stream for me", "Which of my streams overlap?"];

pub(super) fn articles(count: &str, is_one: bool) -> String {
    [count, if is_one { " article" } else { " articles" }, " in PubMed"].concat()
}
