//! The texts of the model servers and of people's own keys.

pub(super) use crate::components::texts::{CANCEL, DETAILS, REMOVE, SAVE};

// Keys of one's own, and the search for local servers
pub(super) const OWN_KEYS: &str = "Your own keys";
pub(super) const ABOUT_OWN_KEYS: &str =
    "What you use with a key of your own is yours alone, and its cost is yours, too.";
pub(super) const NO_OWN_KEYS: &str = "None yet.";
pub(super) const ADD_KEY: &str = "Add a key";
pub(super) const ALLOW_OWN_KEYS: &str = "People may add keys of their own";
pub(super) const TAKES_OWN_KEYS: &str = "People may use keys of their own at this address";
pub(super) const KEY_IS_DELETED: &str = "The key is deleted, and its models can no longer be chosen. Conversations stay; they need another model to go on.";
pub(super) const FIND_LOCAL: &str = "Find one on Parlor’s machine";
pub(super) const SEARCHING: &str = "Searching…";
pub(super) const FOUND_LOCAL: &str = "Found on Parlor’s machine";
pub(super) const ADD_FOUND: &str = "Add";

// The model servers
pub(super) const MODELS: &str = "Models";
pub(super) const ABOUT_SERVERS: &str =
    "The servers whose models people here can choose. A change works at once, without a restart.";
pub(super) const NO_SERVERS: &str =
    "None yet. Connect a service with its key, or a program on your own machine, such as Ollama.";
pub(super) const ADD_SERVER: &str = "Add a model server";
pub(super) const NO_KEY: &str = "no key";
pub(super) const WITH_KEY: &str = "with a key";
pub(super) const KEY_NEEDED_AGAIN: &str = "its key is needed again";
pub(super) const SWITCHED_OFF: &str = "switched off";
pub(super) const FROM_SETTINGS: &str = "From the settings file or the environment";
pub(super) const CHANGE: &str = "Change";
pub(super) const SWITCH_OFF: &str = "Switch off";
pub(super) const SWITCH_ON: &str = "Switch on";
pub(super) const REMOVE_WARNING: &str = "Its models can no longer be chosen, and its key is deleted. Conversations stay; they need another model to go on.";
pub(super) const WHICH_ONE: &str = "Which one?";

pub(super) fn models_hidden(count: usize) -> String {
    match count {
        1 => "1 model hidden".into(),
        count => [&count.to_string(), " models hidden"].concat(),
    }
}

/// A button of one model server, named after its word.
pub(super) fn of_server(word: &str, name: &str) -> String {
    [word, " “", name, "”"].concat()
}

// The form for a model server
pub(super) const CHANGE_SERVER: &str = "Change the model server";
pub(super) const A_SERVER: &str = "A model server";
pub(super) const NAME: &str = "Name";
pub(super) const NAME_EXAMPLE: &str = "A short name, such as work";
pub(super) const ADDRESS: &str = "Address";
pub(super) const ADDRESS_EXAMPLE: &str = "https://models.example/v1";
pub(super) const KEY: &str = "Key";
pub(super) const KEY_STORED: &str = "Stored. Paste another one to replace it.";
pub(super) const PASTE_KEY: &str = "Paste it here";
pub(super) const KEY_OPTIONAL: &str = "If it needs one";
pub(super) const PROTOCOL: &str = "Protocol";
pub(super) const TEST: &str = "Test";
pub(super) const TESTING: &str = "Asking for its models…";
pub(super) const MODELS_TO_OFFER: &str = "Models to offer";
pub(super) const SEARCH_MODELS: &str = "Search the models";
pub(super) const NO_MATCHES: &str = "No model has this name.";
pub(super) const MODEL_NAMES: &str = "Its models by name, one a line, if it has no list of them";

pub(super) fn works(models: usize) -> String {
    match models {
        1 => "It works: 1 model.".into(),
        count => ["It works: ", &count.to_string(), " models."].concat(),
    }
}

pub(super) fn more_models(count: usize) -> String {
    [&count.to_string(), " more. Search for them by name."].concat()
}

// The services and programs to choose from
pub(super) const AZURE_NOTE: &str = "Put the name of your resource in place of NAME.";
pub(super) const ANOTHER_SERVER: &str = "Another server";
pub(super) const ANOTHER_NOTE: &str = "Any server that speaks one of these protocols.";
pub(super) const PROGRAM_NOTE: &str =
    "Start it on the machine of Parlor, or enter the address of another one.";
pub(super) const OPENAI_COMPATIBLE: &str = "OpenAI-compatible";
