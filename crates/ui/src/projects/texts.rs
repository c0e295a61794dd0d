//! The texts of projects.

pub(super) use crate::components::texts::{
    CANCEL, DELETE, LOADING, REMOVE, SAVE, SHARE, TRY_AGAIN, UNDO, cancel_upload, remove_file, uploading,
};

// The page
pub(super) const NOT_FOUND: &str = "There is no project at this address. It may have been deleted.";
pub(super) const NO_INSTRUCTIONS: &str =
    "No instructions yet. Press the pencil to say how the assistant should answer in this project.";
pub(super) const EDIT: &str = "Edit the project";
pub(super) const SHARE_PROJECT: &str = "Share the project";
pub(super) const CHATS: &str = "Chats";
pub(super) const NO_CHATS: &str = "No chats yet. Begin one above, or move one here: by its menu in the list, or by dragging it to the project.";
pub(super) const FILES: &str = "Files";
pub(super) const ADD_FILES: &str = "Add files";
pub(super) const NO_FILES: &str =
    "Each chat here can read the files that you add: short ones whole, others by searching them.";
pub(super) const SHOW_OLDER: &str = "Show older";

// The files
pub(super) const DELETE_FILE_ABOUT: &str = "It is gone for good. Answers that used it stay.";

pub(super) fn delete_file(name: &str) -> String {
    ["Delete ", name].concat()
}

pub(super) fn delete_file_title(name: &str) -> String {
    ["Delete “", name, "”?"].concat()
}

pub(super) fn show_all_files(count: usize) -> String {
    ["Show all ", &usize::to_string(&count), " files"].concat()
}

// The memories
pub(super) const MEMORIES: &str = "Memories";
pub(super) const MEMORY: &str = "Memory";
pub(super) const NO_MEMORIES: &str = "Nothing yet. What the assistant remembers for this project, such as a decision, appears here. Only the chats of the project are told.";
pub(super) const EDIT_MEMORY: &str = "Edit";
pub(super) const FORGET: &str = "Forget";
pub(super) const FORGOTTEN: &str = "Forgotten";

pub(super) fn edit_memory(text: &str) -> String {
    ["Edit: ", text].concat()
}

pub(super) fn forget(text: &str) -> String {
    ["Forget: ", text].concat()
}

pub(super) fn undo_forgetting(text: &str) -> String {
    ["Undo forgetting: ", text].concat()
}

// The tools
pub(super) const TOOLS: &str = "Tools";
pub(super) const TOOLS_HELP: &str = "Those that are off are not used in the chats of the project, from the next answer on. A message can still ask for a web search.";

pub(super) fn tools_off(count: usize) -> String {
    match count {
        0 => "all on".into(),
        count => [&usize::to_string(&count), " off"].concat(),
    }
}

// The form
pub(super) const NEW_TITLE: &str = "New project";
pub(super) const EDIT_TITLE: &str = "Edit project";
pub(super) const NAME: &str = "Name";
pub(super) const NAME_PLACEHOLDER: &str = "Such as: Garden";
pub(super) const COLOUR: &str = "Colour";
pub(super) const INSTRUCTIONS: &str = "Instructions";
pub(super) const INSTRUCTIONS_PLACEHOLDER: &str =
    "Such as: I grow vegetables in Denmark, on clay. Answer for that climate and soil.";
pub(super) const INSTRUCTIONS_HELP: &str =
    "The assistant follows them in each chat of the project, from its next answer on.";
pub(super) const MODEL: &str = "Model of new chats";
pub(super) const DEFAULT_MODEL: &str = "The usual one";
pub(super) const CREATE: &str = "Create";

// The readers
pub(super) const SHARE_TITLE: &str = "Share this project";
pub(super) const SHARE_ABOUT: &str = "People whom you name can read the project: its name, instructions and files, and its chats with what comes. They see of a chat what readers of a shared one see, and nothing of the memories. They change nothing, and their own chats use nothing of it.";
pub(super) const READER_NAMES: &str = "Names of people here";
pub(super) const READER_NAMES_EXAMPLE: &str = "ann, ben";
pub(super) const READERS: &str = "Who can read it";
pub(super) const NO_READERS: &str = "Only you.";
pub(super) const CLOSE: &str = "Close";
/// Before the time.
pub(super) const SINCE: &str = "since ";

pub(super) fn shared_with(readers: usize) -> String {
    match readers {
        1 => "Shared with one person".into(),
        readers => ["Shared with ", &usize::to_string(&readers), " people"].concat(),
    }
}

pub(super) fn remove_reader(name: &str) -> String {
    ["Remove ", name].concat()
}

// A project of another person
/// Before and after the name.
pub(super) const SHARED_BY: (&str, &str) = ("", " shares this project with you, for reading.");
pub(super) const LEAVE: &str = "Leave";
pub(super) const LEAVE_TITLE: &str = "Leave this project?";
pub(super) const LEAVE_ABOUT: &str =
    "It leaves your list. Only the person who shares it can share it with you again.";
pub(super) const SHARED_NO_FILES: &str = "No files.";
pub(super) const SHARED_NO_CHATS: &str = "No chats yet.";
pub(super) const NO_LONGER_SHARED: &str = "This project is no longer shared with you";
pub(super) const NOT_SHARED: &str = "There is no project at this address that is shared with you";

// Moving
pub(super) const NO_PROJECT: &str = "No project";
pub(super) const NEW_PROJECT: &str = "New project";

pub(super) fn move_title(count: usize) -> String {
    match count {
        1 => "Move the chat to".into(),
        count => ["Move ", &usize::to_string(&count), " chats to"].concat(),
    }
}

// Deletion
pub(super) const DELETE_PROJECT: &str = "Delete the project";

pub(super) fn delete_about(files: usize) -> String {
    let files = match files {
        0 => return "Its instructions and memories are gone for good.".into(),
        1 => "its file".to_owned(),
        count => ["its ", &usize::to_string(&count), " files"].concat(),
    };
    [
        "Its instructions, its memories and ",
        &files,
        " are gone for good.",
    ]
    .concat()
}

pub(super) const KEEP_CHATS: &str = "Keep the chats";
pub(super) const KEEP_CHATS_ABOUT: &str = "They stay in the list, in no project.";
pub(super) const DELETE_CHATS: &str = "Delete the chats, too";
pub(super) const DELETE_CHATS_ABOUT: &str = "You can undo this for a moment. Then they are erased.";

pub(super) fn delete_title(name: &str) -> String {
    ["Delete “", name, "”?"].concat()
}

pub(super) fn chats_in_project(count: usize) -> String {
    match count {
        1 => "What becomes of its chat?".into(),
        count => [
            "What becomes of its ",
            &usize::to_string(&count),
            " chats, archived ones included?",
        ]
        .concat(),
    }
}
