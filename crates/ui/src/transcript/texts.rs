//! The texts of a conversation that people read. `problem_texts` decides which of them describes a problem.

pub(super) use crate::components::texts::{
    CLOSE, COPY, DELETE, DETAILS, DOWNLOAD, SHOW_ALL, SHOW_LESS, SHOW_MORE, TRY_AGAIN,
};

// The conversation
pub(super) const MESSAGES: &str = "Messages";
pub(super) const LOADING_CONVERSATION: &str = "Loading the conversation…";
pub(super) const LOADING_FAILED: &str = "This conversation could not be loaded";
pub(super) const NOT_FOUND: &str = "This conversation does not exist.";
pub(super) const EMPTY_TITLE: &str = "There are no messages here any more";
pub(super) const EMPTY_HINT: &str =
    "They were deleted. Write a new message, or delete the conversation in the list.";
pub(super) const SENDING: &str = "Sending…";
pub(super) const WAITING_FOR_CONNECTION: &str = "Waiting for the connection…";
pub(super) const MAY_BE_MORE: &str = "There may be more. Loading it…";
pub(super) const JUMP_TO_LATEST: &str = "Jump to latest";

// Older messages
pub(super) const SHOW_OLDER: &str = "Show older messages";
pub(super) const LOADING_OLDER: &str = "Loading older messages…";

pub(super) fn older_failed(reason: &str) -> String {
    ["Older messages could not be loaded. ", reason].concat()
}

// What was found in the conversation
pub(super) const FOUND_PLACES: &str = "Found in this chat";
pub(super) const PREVIOUS_PLACE: &str = "Previous place";
pub(super) const NEXT_PLACE: &str = "Next place";

/// The number of the place that is shown.
pub(super) fn place_of(shown: usize, count: usize, has_more: bool) -> String {
    let more = if has_more { "+" } else { "" };
    [&*shown.to_string(), " of ", &count.to_string(), more].concat()
}

// Announcements to screen readers
pub(super) const ANSWERING: &str = "Answering";
pub(super) const ANSWER_COMPLETE: &str = "Answer complete";
pub(super) const ANSWER_STOPPED: &str = "Answer stopped";

// A message of the user
pub(super) const YOU: &str = "You";
pub(super) const VERSIONS: &str = "Versions";
pub(super) const PREVIOUS_VERSION: &str = "Previous version";
pub(super) const NEXT_VERSION: &str = "Next version";
pub(super) const BRANCH: &str = "Branch";
pub(super) const BRANCH_TITLE: &str = "Branch into a new conversation";
pub(super) const REPEAT: &str = "Repeat";
pub(super) const REPEAT_TITLE: &str = "Repeat this on a schedule…";
pub(super) const DELETE_TITLE: &str = "Delete, with all that follows";
pub(super) const EDIT: &str = "Edit";
pub(super) const EDIT_MESSAGE: &str = "Edit message";
pub(super) const SEND: &str = "Send";

/// The label of a message that a button sent.
pub(super) fn button_pressed(name: &str) -> String {
    ["Button: ", name].concat()
}

/// The label of a message that a schedule sent, which stands for a number of missed times.
pub(super) fn sent_by_schedule(missed: usize) -> String {
    match missed {
        0 => "Sent by a schedule".into(),
        1 => "Sent by a schedule, later than planned".into(),
        missed => [
            "Sent by a schedule, once for ",
            &missed.to_string(),
            " missed planned times",
        ]
        .concat(),
    }
}

// An answer
pub(super) const ANSWER: &str = "Answer";
pub(super) const MODEL_THINKS: &str = "Thinking…";
pub(super) const WAITING_FOR_MODEL: &str = "Waiting for the model…";
pub(super) const WAITING_FOR_YOU: &str = "Waiting for you…";

// The foot of an answer
pub(super) const STOPPED: &str = "Stopped";
pub(super) const CONTINUE: &str = "Continue";
pub(super) const REGENERATE: &str = "Regenerate";
pub(super) const REGENERATE_WITH: &str = "Answer with another model";
pub(super) const ANSWERS: &str = "Answers";
pub(super) const PREVIOUS_ANSWER: &str = "Previous answer";
pub(super) const NEXT_ANSWER: &str = "Next answer";

pub(super) fn speed(tokens: &str, is_estimated: bool) -> String {
    let about = if is_estimated { "about " } else { "" };
    [about, tokens, " tokens/s"].concat()
}

// The menu of an answer
pub(super) const MORE: &str = "More";
pub(super) const COPY_MARKDOWN: &str = "Copy as Markdown";
pub(super) const COPY_TEXT: &str = "Copy as text";
pub(super) const DOWNLOAD_NOTEBOOK: &str = "Download conversation as notebook";
pub(super) const DIAGNOSTICS: &str = "Diagnostics";

// The button at a selection
pub(super) const QUOTE: &str = "Quote";
pub(super) const QUOTE_TITLE: &str = "Quote in the message box";

// Suggested replies and actions
pub(super) const SUGGESTIONS: &str = "Suggestions";
pub(super) const ACTIONS: &str = "Actions";
pub(super) const ACTION_IMPOSSIBLE: &str = "This is no longer possible here.";
pub(super) const ACTION_WARNING: &str = "The model suggested this. You may not be able to undo it.";
/// What screen readers are told of the button of an action.
pub(super) const ACTION_DONE: &str = " (done)";
pub(super) const ACTION_CONFIRM: &str = "Go ahead";

// Sources
pub(super) const NO_SOURCE: &str = "No source found: the source does not have these words.";

pub(super) fn sources(count: usize) -> String {
    match count {
        1 => "1 source".to_owned(),
        count => [&count.to_string(), " sources"].concat(),
    }
}

// Work: thoughts and calls
pub(super) const SHOW_DETAILS: &str = " · Show details";
pub(super) const THINKING: &str = "Thinking";
pub(super) const WORKING: &str = "Working";

/// A stretch of thoughts alone.
pub(super) fn thought(duration: Option<&str>) -> String {
    match duration {
        Some(duration) => ["Thought for ", duration].concat(),
        None => "Thought".to_owned(),
    }
}

/// A stretch with calls.
pub(super) fn worked(duration: Option<&str>, steps: usize) -> String {
    let steps = match steps {
        1 => "1 step".to_owned(),
        _ => [&steps.to_string(), " steps"].concat(),
    };
    match duration {
        Some(duration) => ["Worked for ", duration, " · ", &steps].concat(),
        None => ["Worked · ", &steps].concat(),
    }
}

// A tool call
pub(super) const NOT_SHARED: &str = "What the tool was given and what it returned is not shared.";
pub(super) const PROGRESS: &str = "Progress";
pub(super) const CALL_ASKS: &str = "Asks: ";
pub(super) const CALL_DONE: &str = "Done: ";

pub(super) fn call_waits(tool: &str) -> String {
    ["Wants to use ", tool].concat()
}

pub(super) fn call_failed(subject: &str) -> String {
    [subject, " failed"].concat()
}

pub(super) fn call_denied(subject: &str) -> String {
    [subject, " not allowed"].concat()
}

pub(super) fn call_stopped(subject: &str) -> String {
    [subject, " stopped"].concat()
}

pub(super) fn call_interrupted(subject: &str) -> String {
    [subject, " interrupted"].concat()
}

// The approval of a call
pub(super) const APPROVAL: &str = "Allow this?";
pub(super) const ALLOW: &str = "Allow";
pub(super) const DENY: &str = "Deny";
pub(super) const ALLOW_ALWAYS: &str = "Always in this conversation";

// What a call was given and returned
pub(super) const ERROR: &str = "Error";
pub(super) const RESULT: &str = "Result";
pub(super) const CHANGE: &str = "Change";
pub(super) const DATA_FRAME: &str = "Data frame";
pub(super) const ASKED: &str = "Asked";
pub(super) const JSON: &str = "JSON";

// Images
pub(super) const IMAGE: &str = "Image";
pub(super) const IMAGE_BEING_MADE: &str = "The image is being made";
pub(super) const EDIT_IMAGE: &str = "Edit this";
/// The beginning of the user's message about it.
pub(super) const EDIT_IMAGE_REQUEST: &str = "Edit this image: ";
pub(super) const PREVIOUS_IMAGE: &str = "Previous image";
pub(super) const NEXT_IMAGE: &str = "Next image";

pub(super) fn image_place(position: usize, count: usize) -> String {
    [&position.to_string(), " of ", &count.to_string()].concat()
}

// Messages that the server has lost
pub(super) const UNRECORDED: &str = "Not on the server";
pub(super) const UNRECORDED_TITLE: &str = "Incomplete:";
pub(super) const UNRECORDED_WARNING: &str = " the server has no record of these messages, perhaps because an older \
     backup was restored. Copy what you need: they disappear with this page.";

// The box of a problem
pub(super) const PROBLEM: &str = "Problem";
pub(super) const CONTINUE_HINT: &str = "“Continue” goes on from here, “Try again” starts over.";
pub(super) const FRESH_SESSION: &str = "Start a fresh session";

// Problems: what happened
pub(super) const CUT_BY_TOOL_LIMIT: &str = "The answer used as many tools as it may at a time.";
pub(super) const CUT_BY_LENGTH: &str = "The answer reached the length limit.";
pub(super) const DAMAGED: &str = "Something is missing here.";
pub(super) const SESSION_GONE: &str = "The Python session is gone.";
pub(super) const INTERRUPTED: &str = "The answer was interrupted.";
pub(super) const INTERRUPTED_BY_TIME_LIMIT: &str = "The answer took longer than answers may take.";
pub(super) const CONTEXT_TOO_LONG: &str = "The conversation is too long for this model.";
pub(super) const REFUSED: &str = "The model refused to answer.";
pub(super) const TOO_LONG: &str = "The answer became too long.";
pub(super) const REPEATED: &str = "The model began to repeat itself and was stopped.";
pub(super) const NO_ANSWER_AFTER_TOOLS: &str = "The model used tools and then gave no answer.";
pub(super) const CALL_UNREADABLE: &str = "The model asked for a tool in a way that can’t be read.";
pub(super) const UNKNOWN_ERROR: &str = "The model could not answer.";
/// The link to the form with the key, for those who may change it.
pub(super) const CHECK_KEY: &str = "Check the key";
/// The same for everybody else.
pub(super) const ADMINISTRATORS_KEY: &str = "An administrator can do that in the settings, under Models.";

// Problems of a server, by its name at the beginning of the sentence
pub(super) const SERVER: &str = "The model server";

pub(super) fn named_server(name: &str) -> String {
    [SERVER, " “", name, "”"].concat()
}

pub(super) fn cut_by_server(server: &str) -> String {
    [server, " paused the answer."].concat()
}

pub(super) fn interrupted_by_silence(server: &str) -> String {
    [server, " stopped in the middle of the answer."].concat()
}

pub(super) fn server_unreachable(server: &str) -> String {
    [server, " can’t be reached."].concat()
}

pub(super) fn server_failed(server: &str) -> String {
    [server, " failed."].concat()
}

pub(super) fn key_refused(server: &str) -> String {
    [server, " did not accept the key."].concat()
}

pub(super) fn key_missing(server: &str) -> String {
    [server, " wants a key, and none is set."].concat()
}

pub(super) fn no_credit(server: &str) -> String {
    [server, " wants to be paid first."].concat()
}

pub(super) fn rate_limited(server: &str) -> String {
    [server, " takes no more requests for now."].concat()
}

pub(super) fn model_unknown(server: &str) -> String {
    [server, " does not know this model."].concat()
}

pub(super) fn other_protocol(server: &str) -> String {
    [server, " speaks another protocol."].concat()
}

pub(super) fn no_answer(server: &str) -> String {
    [server, " did not answer."].concat()
}

pub(super) fn server_error(server: &str) -> String {
    [server, " reported an error."].concat()
}

pub(super) fn withheld(server: &str) -> String {
    [server, " withheld the rest of the answer."].concat()
}

pub(super) fn answer_unreadable(server: &str) -> String {
    ["The answer of ", &inside(server), " could not be read."].concat()
}

pub(super) fn interrupted_by_connection(server: &str) -> String {
    ["The connection to ", &inside(server), " broke."].concat()
}

/// The name of a server inside a sentence.
fn inside(server: &str) -> String {
    match server.strip_prefix(SERVER) {
        Some(rest) => ["the model server", rest].concat(),
        None => server.into(),
    }
}

// Problems: what was kept, what to do
pub(super) const ANSWER_KEPT: &str = "What was written is kept.";
pub(super) const CHECK_SERVER: &str = "Check that it is running, then try again.";
pub(super) const TRY_SOON: &str = "Try again in a moment.";
pub(super) const CORRECT_KEY: &str = "Choose another model until the key is corrected.";
pub(super) const ADD_KEY: &str = "Choose another model until a key is added.";
pub(super) const ADD_CREDIT: &str = "Add credit there, or choose another model.";
pub(super) const WAIT_THEN_TRY: &str = "Wait a little, then try again.";
pub(super) const CHOOSE_MODEL: &str = "Choose another model.";
pub(super) const SHORTEN: &str = "Start a new chat, or choose a model with a larger context.";
pub(super) const CORRECT_KIND: &str = "Its kind must be corrected in the settings.";
pub(super) const MAY_BE_LOADING: &str = "It may still be loading the model: try again.";
pub(super) const TRY_OR_CHOOSE_MODEL: &str = "Try again, or choose another model.";
pub(super) const REPHRASE: &str = "Rephrase the question, or choose another model.";
pub(super) const TRY_NOW: &str = "Try again.";
