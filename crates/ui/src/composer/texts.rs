//! The texts of the message box, and of what opens from it.

pub(super) use crate::components::texts::{
    CANCEL, CLOSE, REMOVE, SAVE, TRY_AGAIN, cancel_upload, remove_file, uploading,
};

// The list of models
pub(super) const FAVOURITES: &str = "Favourites";
pub(super) const LAST_USED: &str = "Last used";
pub(super) const FAVOURITE: &str = "Favourite";
pub(super) const ADD_MODEL: &str = "Add a model";
pub(super) const NO_MODEL: &str = "No model has this name.";

/// The number of shown models.
pub(super) fn models(count: usize) -> String {
    match count {
        1 => "1 model".into(),
        count => [&count.to_string(), " models"].concat(),
    }
}

// The message box
pub(super) const NEW_MESSAGE: &str = "New message";
pub(super) const MESSAGE: &str = "Message";
pub(super) const PLACEHOLDER: &str = "Write a message";
pub(super) const KEPT_AS_DRAFT: &str =
    "Your message was not sent, because you left while its files were uploading. It is kept as a draft.";
pub(super) const STILL_WRITING: &str = "The answer is still being written. Reload the page to see more.";
pub(super) const SENT_AFTER_UPLOAD: &str = "The message is sent when its files are uploaded.";
pub(super) const SEND: &str = "Send";
pub(super) const STOP: &str = "Stop";
pub(super) const QUEUE: &str = "Queue message";
pub(super) const QUEUE_TITLE: &str = "Send when the answer is done";

/// The reason why the last message was not sent.
pub(super) fn not_sent(reason: &str) -> String {
    ["Not sent. ", reason].concat()
}

// What is added to a message
pub(super) const ADD: &str = "Add to the message";
pub(super) const ADD_FILES_OR_TOOLS: &str = "Add files or tools";
pub(super) const ATTACH_FILES: &str = "Attach files";
pub(super) const TAKE_PHOTO: &str = "Take a photo";
pub(super) const SEARCH_WEB: &str = "Search the web";
pub(super) const SEARCHES_WEB: &str = "Search the web for the next message";
pub(super) const FILES: &str = "Files";
pub(super) const PHOTO: &str = "Photo";

// Attached files and pasted texts
pub(super) const DROP_FILES: &str = "Drop files to attach them";
pub(super) const ATTACHED_FILES: &str = "Attached files";
pub(super) const PASTED_TEXTS: &str = "Pasted texts";
pub(super) const REMOVE_PASTE: &str = "Remove pasted text";

pub(super) fn pasted_text(lines: usize) -> String {
    match lines {
        1 => "Pasted text, 1 line".into(),
        lines => ["Pasted text, ", &lines.to_string(), " lines"].concat(),
    }
}

// Queued messages
pub(super) const QUEUED_MESSAGES: &str = "Queued messages";
pub(super) const QUEUED_MESSAGE: &str = "Queued message";
pub(super) const SENT_WHEN_DONE: &str = "Sent when the answer is done";
pub(super) const HELD_AFTER_END: &str = "On hold: the answer was not finished";
pub(super) const HELD: &str = "On hold";
pub(super) const SEND_NEXT: &str = "Send after this answer";
pub(super) const SEND_NOW: &str = "Send now";
pub(super) const SENDING: &str = "Sending…";
pub(super) const WAITING_FOR_CONNECTION: &str = "Waiting for the connection… ";
pub(super) const EDIT_MESSAGE: &str = "Edit message";
pub(super) const MOVE_UP: &str = "Move up";
pub(super) const MOVE_DOWN: &str = "Move down";
pub(super) const EDIT: &str = "Edit";
pub(super) const CHANGE_NOT_SAVED: &str =
    "Your change to the queued message was not saved. Your text is in the message box.";

// The model picker
pub(super) const MODEL: &str = "Model";
pub(super) const NO_MODEL_CONNECTED: &str = "No model is connected";
pub(super) const CHOOSE_MODEL: &str = "Choose a model";
pub(super) const FIND_MODEL: &str = "Find a model";
pub(super) const MODELS: &str = "Models";
pub(super) const SOME_TOOLS_MISSING: &str = "Some tools are not available";
pub(super) const SOME_MODELS_AND_TOOLS_MISSING: &str = "Some models and tools are not available";
pub(super) const SOME_MODELS_MISSING: &str = "Some models could not be listed";

pub(super) fn chosen_model(name: &str) -> String {
    ["Model: ", name].concat()
}

// A model in the list: what it can do follows its name
pub(super) const IS_FAVOURITE: &str = ", favourite";
pub(super) const SEES_IMAGES: &str = "sees images";
pub(super) const READS_PDF: &str = "reads PDF";
pub(super) const THINKS: &str = "thinks";
pub(super) const USES_TOOLS: &str = "uses tools";
pub(super) const FREE: &str = "free";

/// The size of a context window: "131k" tokens.
pub(super) fn window_tokens(tokens: &str) -> String {
    [tokens, " tokens"].concat()
}

pub(super) fn prices(input: &str, output: &str) -> String {
    [input, " in, ", output, " out per million"].concat()
}

// The settings of a conversation’s model
pub(super) const PARAMETERS: &str = "How the model answers";
pub(super) const PARAMETERS_CHANGED: &str = "How the model answers (changed)";
pub(super) const PARAMETERS_HINT: &str =
    "For this conversation, from your next message on. Leave a field empty for the server’s default.";
pub(super) const AS_MODEL_DECIDES: &str = "As the model decides";
pub(super) const MORE_SETTINGS: &str = "More settings…";
pub(super) const TEMPERATURE: &str = "Temperature";
pub(super) const TEMPERATURE_RANGE: &str = "0 to 2";
pub(super) const LONGEST_ANSWER: &str = "Longest answer";
pub(super) const TOKENS: &str = "Tokens";
pub(super) const CLEAR_ALL: &str = "Clear all";

// Thinking
pub(super) const THINKING: &str = "Thinking";
pub(super) const MODEL_DEFAULT: &str = "Model default";
pub(super) const THINKING_BUDGET: &str = "Thinking budget";
pub(super) const OFF: &str = "Off";
pub(super) const ON: &str = "On";
pub(super) const MINIMAL: &str = "Minimal";
pub(super) const LOW: &str = "Low";
pub(super) const MEDIUM: &str = "Medium";
pub(super) const HIGH: &str = "High";
pub(super) const EXTRA_HIGH: &str = "Extra high";
pub(super) const MAXIMUM: &str = "Maximum";

pub(super) fn budget_range(min: &str, max: &str) -> String {
    [min, " to ", max, " tokens"].concat()
}

/// A model that takes another amount of thinking than the chosen one.
pub(super) fn thinks_otherwise(model: &str, choice: &str, closest: &str) -> String {
    [
        model,
        " does not take the thinking “",
        choice,
        "”. It gets “",
        closest,
        "”.",
    ]
    .concat()
}

/// A model that takes no amount of thinking.
pub(super) fn thinking_not_sent(model: &str, choice: &str, can_think: bool) -> String {
    let reason = if can_think {
        decides_thinking(model)
    } else {
        cannot_think(model)
    };
    [&reason, " The thinking “", choice, "” is not sent."].concat()
}

pub(super) fn cannot_think(model: &str) -> String {
    [model, " can’t think."].concat()
}

pub(super) fn decides_thinking(model: &str) -> String {
    [model, " decides alone how much it thinks."].concat()
}

pub(super) fn thinking_unknown(model: &str) -> String {
    ["It is not known which thinking ", model, " takes."].concat()
}

// The context window
pub(super) const CONTEXT_WINDOW: &str = "The model’s context window";
pub(super) const WINDOW_HINT: &str = "All that the model reads: its instructions, its tools, this conversation. When it is full, old tool outputs are shortened first, then the oldest messages are summarized.";
pub(super) const USE_UNKNOWN: &str = "Context window: use unknown";

pub(super) fn percent_full(percent: &str) -> String {
    ["Context window: ", percent, " % full"].concat()
}

/// The used tokens, of those that fit if that is known.
pub(super) fn used_tokens(
    used: &str,
    window_and_percent: Option<(&str, &str)>,
    is_estimated: bool,
) -> String {
    let about = if is_estimated { "About " } else { "" };
    match window_and_percent {
        Some((window, percent)) => [about, used, " of ", window, " tokens (", percent, " %)"].concat(),
        None => {
            let unknown = " tokens. The size of this model’s context window is unknown.";
            [about, used, unknown].concat()
        }
    }
}

// Used tokens and costs
pub(super) const THIS_ANSWER: &str = "This answer";
pub(super) const THIS_CONVERSATION: &str = "This conversation";
pub(super) const FROM_CACHE: &str = "from the cache";
pub(super) const TO_CACHE: &str = "written to the cache";
pub(super) const OF_IMAGES: &str = "of images";
pub(super) const OF_THINKING: &str = "thinking";
pub(super) const ESTIMATED: &str = "The model server does not count tokens: these are estimates.";
pub(super) const COST_UNKNOWN: &str = "Cost: unknown, no price is set";

/// Tokens in or out, with those parts that are known.
pub(super) fn tokens(count: &str, is_input: bool, parts: &[String]) -> String {
    let what = if is_input { "Tokens in: " } else { "Tokens out: " };
    match parts.is_empty() {
        true => [what, count].concat(),
        false => [what, count, " (", &parts.join(", "), ")"].concat(),
    }
}

pub(super) fn cost(cost: &str) -> String {
    ["Cost: ", cost].concat()
}

/// The cost of those model calls whose price is known.
pub(super) fn cost_at_least(cost: &str, unpriced_calls: &str, calls: &str) -> String {
    [
        "Cost: at least ",
        cost,
        "; the price of ",
        unpriced_calls,
        " of ",
        calls,
        " model calls is unknown",
    ]
    .concat()
}
