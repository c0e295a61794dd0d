//! The files of a conversation in its session: links in the folder in which it works, under the names of the files. Their
//! contents have their ids as names, so that no two of them are the same file, whatever the file system takes for equal.

use std::{collections::HashSet, path::Path};

use serde_json::json;

use parlor_protocol::{Attachment, AttachmentId};

/// The code that makes the links.
const LINK: &str = include_str!("attached.py");

/// The maximum length of a link's name, in bytes. File systems allow 255, and a number may be added.
const MAX_NAME_BYTES: usize = 200;

/// The maximum length of a name's ending, in bytes.
const MAX_ENDING_BYTES: usize = 20;

/// The maximum number of notes about one call.
const MAX_NOTES: usize = 20;

/// The files that a session has, and what the model is yet to be told of them.
#[derive(Debug, Default)]
pub struct AttachedFiles {
    linked: HashSet<AttachmentId>,
    notes: Vec<String>,
}

impl AttachedFiles {
    /// Returns those of the files that the session does not have yet.
    pub fn missing<'a>(&self, files: &'a [Attachment]) -> Vec<&'a Attachment> {
        files
            .iter()
            .filter(|file| !self.linked.contains(&file.id))
            .collect()
    }

    /// Returns `true` if the session has no others than these.
    pub fn are_among(&self, files: &[Attachment]) -> bool {
        let is_among = |id: &AttachmentId| files.iter().any(|file| file.id == *id);
        self.linked.iter().all(is_among)
    }

    /// Notes that the session has these files. `printed` is the output of the code that made the links; code of the
    /// conversation may have changed it.
    pub fn add(&mut self, files: &[&Attachment], printed: &str) {
        self.linked.extend(files.iter().map(|file| file.id));
        let renamed: Vec<(String, String)> = serde_json::from_str(printed).unwrap_or_default();
        for (name, link) in renamed {
            let (name, link) = (short_name(&name), short_name(&link));
            self.note(format!(
                "The attached file {name} is {link} in the working folder: its name was taken."
            ));
        }
    }

    /// Adds a note for the model.
    pub fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }

    /// Takes the notes for the model.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// Returns the code that links files, whose contents are in a folder, into the folder in which the session works.
pub fn link_code(folder: &Path, files: &[&Attachment]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|file| (file.id.to_string(), short_name(&file.name)))
        .collect();
    // JSON strings of such texts are Python strings too.
    let (folder, files) = (json!(folder.to_string_lossy()), json!(files));
    format!("{LINK}\ntry:\n    _parlor_link({folder}, {files})\nfinally:\n    del _parlor_link\n")
}

/// Returns a name with its ending that a file system takes. A name of an upload has no path.
fn short_name(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if ending.len() <= MAX_ENDING_BYTES => (stem, format!(".{ending}")),
        _ => (name, String::new()),
    };
    let stem = &stem[..stem.floor_char_boundary(MAX_NAME_BYTES - ending.len())];
    [stem, &ending].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_file_systems() {
        for (name, short) in [
            ("table.csv".to_owned(), "table.csv".to_owned()),
            ("表".repeat(100) + ".csv", "表".repeat(65) + ".csv"),
            ("x".repeat(300), "x".repeat(200)),
            (
                "a.".to_owned() + &"x".repeat(300),
                "a.".to_owned() + &"x".repeat(198),
            ),
        ] {
            assert_eq!(short_name(&name), short);
        }
    }

    #[test]
    fn what_a_session_prints_is_read_with_care() {
        for printed in [
            "",
            "[]",
            "null",
            "[[1, 2]]",
            "[[\"a\"]]",
            "{}",
            "[",
            "other output",
        ] {
            let mut files = AttachedFiles::default();
            files.add(&[], printed);
            assert_eq!(files.take_notes(), [] as [String; 0], "{printed}");
        }
        let mut files = AttachedFiles::default();
        files.add(&[], r#"[["a.csv", "a_2.csv"]]"#);
        let note = "The attached file a.csv is a_2.csv in the working folder: its name was taken.";
        assert_eq!(files.take_notes(), [note]);
        assert_eq!(files.take_notes(), [] as [String; 0]);
    }
}
