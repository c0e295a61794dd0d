//! The files of a conversation in its session: links in the folder in which it works, under the names of the files.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use serde_json::json;

use crate::protocol::{Attachment, AttachmentId};

/// The code that makes the links. The name of a link that exists, or of a file of the session, is left alone.
const LINK: &str = include_str!("attached.py");

/// The files that a session has, with their names there.
#[derive(Debug, Default)]
pub struct AttachedFiles(HashMap<AttachmentId, String>);

impl AttachedFiles {
    /// Returns those of the files that the session does not have yet, with names that none of its files has. The newest of
    /// several with the same name gets another one.
    pub fn missing<'a>(&self, files: &'a [Attachment]) -> Vec<(&'a Attachment, String)> {
        let mut taken: HashSet<String> = self.0.values().cloned().collect();
        let missing = files.iter().filter(|file| !self.0.contains_key(&file.id));
        missing
            .map(|file| (file, free_name(&file.name, &mut taken)))
            .collect()
    }

    /// Notes that the session has a file.
    pub fn add(&mut self, id: AttachmentId, name: String) {
        self.0.insert(id, name);
    }
}

/// Returns a name that is not taken, and takes it: `table.csv`, `table_2.csv`. A name of an upload has no path.
fn free_name(name: &str, taken: &mut HashSet<String>) -> String {
    let path = Path::new(name);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path
        .extension()
        .map_or(String::new(), |end| format!(".{}", end.to_string_lossy()));
    let others = (2..).map(|number| format!("{stem}_{number}{end}"));
    let mut names = std::iter::once(name.to_owned()).chain(others);
    let free = names.find(|name| taken.insert(name.clone()));
    free.unwrap_or_else(|| name.to_owned())
}

/// Returns the code that links files of a folder into the folder in which the session works.
pub fn link_code(folder: &Path, names: &[String]) -> String {
    // JSON strings of such texts are Python strings too.
    let (folder, names) = (json!(folder.to_string_lossy()), json!(names));
    format!("{LINK}\ntry:\n    _parlor_link({folder}, {names})\nfinally:\n    del _parlor_link\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_the_same_name_get_others() {
        let file = |name: &str| Attachment {
            id: AttachmentId::new(),
            name: name.into(),
            media_type: "text/csv".into(),
            bytes: 1,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        };
        let files = ["a.csv", "a.csv", "b", "a.csv", "b"].map(file);
        let mut attached = AttachedFiles::default();
        let names = |attached: &AttachedFiles, files: &[Attachment]| -> Vec<String> {
            attached
                .missing(files)
                .into_iter()
                .map(|(_, name)| name)
                .collect()
        };
        assert_eq!(names(&attached, &files[..3]), ["a.csv", "a_2.csv", "b"]);
        let missing: Vec<_> = attached
            .missing(&files[..3])
            .into_iter()
            .map(|(file, name)| (file.id, name))
            .collect();
        for (id, name) in missing {
            attached.add(id, name);
        }
        assert_eq!(names(&attached, &files), ["a_3.csv", "b_2"]);
    }
}
