//! The names of contents below the folder of files: all are made of ids.

use std::{
    io,
    path::{Path, PathBuf},
};

use cap_std::fs::Dir;
use uuid::Uuid;

use super::ContentForm;
use parlor_protocol::{ConversationId, UserId};
use parlor_storage::FileLocation;

/// The suffixes of a content's other forms.
const PREPARED_SUFFIX: &str = ".model";
const PICTURE_SUFFIX: &str = ".picture";
/// The suffix of the tables. It has the reader's version, so that a new version rebuilds them.
pub(super) const TABLES_SUFFIX: &str = ".tables2";

pub(super) fn remove_if_exists(folder: &Dir, path: &Path) -> io::Result<()> {
    match folder.remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Calls the function for each file: with its content's location, its folder and its name.
pub(super) fn for_each_name(
    root: &Dir,
    mut visit: impl FnMut(FileLocation, &Dir, &str) -> io::Result<()>,
) -> io::Result<()> {
    let subfolders = |folder: &Dir| -> io::Result<Vec<(Uuid, Dir)>> {
        let mut subfolders = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(id) = id.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                subfolders.push((id, entry.open_dir()?));
            }
        }
        Ok(subfolders)
    };
    for (user, of_user) in subfolders(root)? {
        for (conversation, of_conversation) in subfolders(&of_user)? {
            for entry in of_conversation.entries()? {
                let name = entry?.file_name();
                let name = name.to_str().unwrap_or_default();
                if let Some(stored_name) = stored_name(name) {
                    let location = FileLocation {
                        user_id: UserId(user),
                        conversation_id: ConversationId(conversation),
                        stored_name,
                    };
                    visit(location, &of_conversation, name)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn conversation_folder(location: FileLocation) -> PathBuf {
    PathBuf::from(location.user_id.to_string()).join(location.conversation_id.to_string())
}

/// Returns the path of a content below the folder of files.
pub fn content_path(location: FileLocation, form: ContentForm) -> PathBuf {
    let mut name = location.stored_name.to_string();
    name.push_str(suffix(form));
    conversation_folder(location).join(name)
}

/// Returns the content that a path below the folder of files names, by its three parts.
pub fn location_of(user: &str, conversation: &str, name: &str) -> Option<(FileLocation, ContentForm)> {
    let location = FileLocation {
        user_id: UserId(user.parse().ok()?),
        conversation_id: ConversationId(conversation.parse().ok()?),
        stored_name: stored_name(name)?,
    };
    Some((location, form_of(name)?))
}

fn suffix(form: ContentForm) -> &'static str {
    match form {
        ContentForm::Original => "",
        ContentForm::Prepared => PREPARED_SUFFIX,
        ContentForm::Tables => TABLES_SUFFIX,
        ContentForm::Picture => PICTURE_SUFFIX,
    }
}

/// Returns the form that a file's name tells.
pub(super) fn form_of(name: &str) -> Option<ContentForm> {
    let end = name.find('.').map_or("", |at| &name[at..]);
    let all = [
        ContentForm::Original,
        ContentForm::Prepared,
        ContentForm::Tables,
        ContentForm::Picture,
    ];
    all.into_iter().find(|form| suffix(*form) == end)
}

fn stored_name(name: &str) -> Option<Uuid> {
    name.split('.').next()?.parse().ok()
}
