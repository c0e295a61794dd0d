//! The texts of a new chat.

pub(super) const GREETING: &str = "What’s on your mind?";
pub(super) const TEMPORARY_GREETING: &str = "A temporary chat";
pub(super) const TEMPORARY_ABOUT: &str = "The search does not find it, nothing of it is remembered, and it is erased some time after its last message, or when you delete it.";
pub(super) const TO_BEGIN: &str = "To begin with";
pub(super) const NO_ANSWERS_YET: &str = "No model can answer yet";

// What is new after an upgrade
pub(super) use crate::components::texts::CLOSE;
pub(super) fn news_title(version: &str) -> String {
    format!("New in Parlor {version}")
}

// The card that connects a model
pub(super) const CONNECT: &str = "Connect a model";
pub(super) const TOUR_TALKS: &str = "You are talking to a scripted tour. ";
pub(super) const CONNECT_HINT: &str =
    "Add a service with its key. Ollama, LM Studio and the like appear by themselves once they run.";
pub(super) const CONNECT_HINT_ADMINISTRATOR: &str = "An administrator can connect one in the settings.";
pub(super) const FIND_OLLAMA: &str = "Find Ollama";
pub(super) const ADD_MODEL: &str = "Add a model";

// The cards, each with what it asks the tour and a model
pub(super) const CLOSE_TAB: &str = "Close the tab mid-answer";
pub(super) const CLOSE_TAB_NOTE: &str = "Open it again: nothing is lost.";
pub(super) const CLOSE_TAB_NOW: &str = "Close this tab now, and open it again: the answers go on without it.";
pub(super) const CLOSE_TAB_TOUR: [&str; 3] = [
    "Draw a chart of the rain in three towns",
    "Show me a tool that asks first",
    "Tell me something long, so that I can close this tab",
];
pub(super) const CLOSE_TAB_MODEL: [&str; 1] =
    ["Tell me a long story about a lighthouse keeper, so that I can close this tab meanwhile"];
pub(super) const TWO_AT_ONCE: &str = "Two at once";
pub(super) const TWO_AT_ONCE_NOTE: &str = "Both keep writing; the list shows which.";
pub(super) const TWO_AT_ONCE_TOUR: [&str; 2] = ["Show me every kind of Markdown", "Tell me something long"];
pub(super) const TWO_AT_ONCE_MODEL: [&str; 2] = [
    "Explain how a suspension bridge carries its load",
    "Compare three ways to learn a language, in a table",
];
pub(super) const SPREADSHEET: &str = "Ask a spreadsheet";
pub(super) const SPREADSHEET_NOTE: &str = "A sample is attached, and a chart drawn.";
/// The name of the attached file.
pub(super) const SPREADSHEET_NAME: &str = "rain.csv";
pub(super) const SPREADSHEET_TOUR: [&str; 1] = ["Draw a chart of the rain in these three towns"];
pub(super) const SPREADSHEET_MODEL: [&str; 1] =
    ["Which of these three towns has the driest summer? Draw a chart of the rain in all of them"];
pub(super) const TOOLS: &str = "See tools at work";
pub(super) const TOOLS_NOTE: &str = "A calculation, step by step.";
pub(super) const TOOLS_TOUR: [&str; 1] = ["Show me a tool that asks first"];
pub(super) const TOOLS_MODEL: [&str; 1] =
    ["How many years are 2^64 nanoseconds? Work it out with the calculator"];
