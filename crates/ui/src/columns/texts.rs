//! The texts of columns.

use parlor_protocol::{RunStatus, columns::ColumnType};

pub(super) use crate::components::texts::{
    CANCEL, CLOSE, DELETE, JOB_CONTINUE as CONTINUE, JOB_NEW_LIMIT as NEW_LIMIT, JOB_NO_AMOUNT as NO_AMOUNT,
    LOADING, SAVE, TRY_AGAIN,
};

// The actions
pub(super) const ADD: &str = "Add a column";
pub(super) const FILL: &str = "Fill the columns";
pub(super) const LOAD_FAILED: &str = "The columns could not be loaded";
pub(super) const EMPTY_HELP: &str = "Add a column with a question. The model answers it for each row, with the words of the text that say so.";

pub(super) fn rows(found: &str, all: &str) -> String {
    match found == all {
        true => [all, if all == "1" { " row" } else { " rows" }].concat(),
        false => [found, " of ", all, if all == "1" { " row" } else { " rows" }].concat(),
    }
}

// The progress
pub(super) const FILLING: &str = "The columns are being filled. You can close this page.";
pub(super) fn paused_title(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Waiting => "Filling the columns waits for you",
        RunStatus::Stopped => "Filling the columns was stopped. What is filled is kept.",
        RunStatus::Failed => "The columns could not be filled",
        _ => "Filling the columns was interrupted",
    }
}

// The cells
pub(super) const NOT_FILLED: &str = "Not filled";
pub(super) const WAITING: &str = "Waiting";
pub(super) const NO_ANSWER: &str = "No answer";
pub(super) const NO_TEXT: &str = "No text to read";
pub(super) const FAILED: &str = "Failed";
pub(super) const CORRECTED: &str = "Corrected by you";
pub(super) const NO_PASSAGE: &str = "The text does not have the passage that the model quotes.";

// A column
pub(super) const NEW_TITLE: &str = "New column";
pub(super) const EDIT_TITLE: &str = "Change the column";
pub(super) const NAME: &str = "Name";
pub(super) const QUESTION: &str = "Question";
pub(super) const QUESTION_PLACEHOLDER: &str = "How many people took part?";
pub(super) const TYPE: &str = "Answer";
pub(super) const CHOICES: &str = "Answers to choose from, one a line";
pub(super) const ASK_AGAIN: &str = "Ask all rows again";
pub(super) const ASK_AGAIN_HELP: &str =
    "A changed question is asked again anyway. Your corrections stay, and the model is told the newest.";
pub(super) const DELETE_TEXT: &str = "Its answers and your corrections in it are deleted for good.";

pub(super) const TYPES: [(ColumnType, &str); 4] = [
    (ColumnType::Text, "Text"),
    (ColumnType::Number, "Number"),
    (ColumnType::YesNo, "Yes or no"),
    (ColumnType::Choice, "One of a list"),
];

pub(super) fn edit_column(name: &str) -> String {
    ["Change the column “", name, "”"].concat()
}

pub(super) fn delete_title(name: &str) -> String {
    ["Delete the column “", name, "”?"].concat()
}

// A table
pub(super) const COLUMNS: &str = "Columns";
pub(super) const COLUMNS_HELP: &str = "Ask a question about each row";
pub(super) const FILTER_ROWS: &str = "Filter rows";
pub(super) const ROWS_FAILED: &str = "The rows could not be loaded";

pub(super) fn rows_left_out(count: &str) -> String {
    [
        "The first rows only: ",
        count,
        " more are not asked about (setting jobs.rows).",
    ]
    .concat()
}

// A cell
pub(super) const MODEL_SAYS: &str = "The model’s answer";
pub(super) const PASSAGE: &str = "Passage";
pub(super) const OPEN_PASSAGE: &str = "Open where it stands";
pub(super) const QUOTES_WRONGLY: &str = "The text does not have these words:";
pub(super) const QUOTES_NOTHING: &str = "The model quotes no passage.";
pub(super) const NOT_ASKED: &str = "It was not asked yet.";
pub(super) const NOT_IN_TEXT: &str = "The text has no answer.";
pub(super) const HAS_NO_TEXT: &str = "There is no text to read, so no model was asked.";
pub(super) const YOUR_ANSWER: &str = "Your answer";
pub(super) const YOUR_ANSWER_HELP: &str = "It stays when the columns are filled again, and the model is told it as an example. Empty: the text has no answer.";
pub(super) const CORRECT: &str = "Correct";
pub(super) const TAKE_BACK: &str = "Take the correction back";
pub(super) const CHANGE_QUESTION: &str = "Change the question";
pub(super) const YES: &str = "yes";
pub(super) const NO: &str = "no";
pub(super) const NO_VALUE: &str = "(no answer)";

pub(super) fn answered_by(model: &str) -> String {
    ["Answered by ", model].concat()
}

// Filling
pub(super) const FILL_TITLE: &str = "Fill the columns";
pub(super) const FILL_HELP: &str = "One question to the model for each cell. What the last job has answered with the same model and question is not asked again.";

/// The questions that would be asked, and their cost if it is known.
pub(super) fn questions(questions: &str, cells: &str, cost: Option<&str>) -> String {
    let noun = if questions == "1" {
        " question"
    } else {
        " questions"
    };
    let text = [
        questions,
        noun,
        " for ",
        cells,
        if cells == "1" { " cell" } else { " cells" },
    ]
    .concat();
    match cost {
        Some(cost) => [&text, ", about ", cost].concat(),
        None => text,
    }
}

pub(super) const COUNTING: &str = "Counting the questions…";
pub(super) const MODEL: &str = "Model";
pub(super) const DEFAULT_MODEL: &str = "The default model";
pub(super) const LIMIT: &str = "Limit, in US dollars";
pub(super) const NO_LIMIT: &str = "No limit";
pub(super) const LIMIT_HELP: &str =
    "At the limit, it waits for you, and keeps what is filled. Your daily limits apply, too.";
pub(super) const START: &str = "Fill";
