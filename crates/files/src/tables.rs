//! Files with tables, as databases of SQLite: made by a process of its own when they are first queried, and kept next to
//! the originals.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
};

use serde::de::IgnoredAny;
use uuid::Uuid;

use super::{
    Files, Inner,
    child::run_reader,
    contents::ContentForm,
    media_type::{ODS, XLS, XLSB, XLSX, is_workbook_name},
    prepare::PrepareError,
    reader::tables::{self, TableFormat},
    reader_queue::Origin,
};
use parlor_base::text::single_line;
use parlor_protocol::{Attachment, FileProblem, UserId};
use parlor_storage::{FileLocation, StorageError, StoredFile};

/// The ends of the names of texts that are tables as JSON.
const JSON_ENDS: [&str; 3] = ["jsonl", "ndjson", "json"];

/// The part of a JSON file that is looked at: the first object has to end in it, if each has a line.
const MAX_BEGINNING_BYTES: usize = 256 << 10;

/// The maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The maximum number of files whose reasons are remembered.
const MAX_UNREADABLE_FILES: usize = 1000;

/// The reason why a file has no database.
#[derive(Debug, thiserror::Error)]
pub enum TableFileError {
    #[error("it has no tables")]
    NoTables,
    /// The reason of the process that has read it.
    #[error("{0}")]
    Unreadable(String),
    /// The process ended without a reason: at its limits, or for lack of memory or disk, which may be otherwise later.
    #[error("it is too large or too complex, or could not be read just now")]
    NotRead,
    #[error(
        "there is no room for its tables beside your files (setting files.user_bytes): delete files that are no longer needed"
    )]
    NoRoom,
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns true if the name of a JSON file does not tell if it has objects one after the other.
fn is_any_json(file: &Attachment) -> bool {
    table_format(file) == Some(TableFormat::Json) && has_end(file, &["json"])
}

/// Returns true if a JSON file begins like a table: an array of objects, or an object in each line.
fn begins_as_table(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let text = text.trim_ascii_start();
    match text.first() {
        Some(b'[') => text[1..].trim_ascii_start().first() == Some(&b'{'),
        Some(b'{') => {
            let mut lines = text.splitn(2, |byte| *byte == b'\n');
            let (first, rest) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            serde_json::from_slice::<HashMap<String, IgnoredAny>>(first).is_ok()
                && !rest.trim_ascii().is_empty()
        }
        _ => false,
    }
}

fn has_end(file: &Attachment, ends: &[&str]) -> bool {
    let end = Path::new(&file.name).extension().and_then(|end| end.to_str());
    end.is_some_and(|end| ends.iter().any(|known| known.eq_ignore_ascii_case(end)))
}

fn table_format(file: &Attachment) -> Option<TableFormat> {
    if matches!(file.problem, Some(FileProblem::Encrypted | FileProblem::Damaged)) {
        return None;
    }
    match &*file.media_type {
        "text/html" | "text/xml" if is_workbook_name(&file.name) && file.text_bytes.is_some() => {
            Some(TableFormat::Markup)
        }
        "text/csv" | "text/tab-separated-values" => Some(TableFormat::Delimited),
        XLSX => Some(TableFormat::Xlsx),
        XLSB => Some(TableFormat::Xlsb),
        XLS => Some(TableFormat::Xls),
        ODS => Some(TableFormat::Ods),
        "text/plain" if has_end(file, &JSON_ENDS) => Some(TableFormat::Json),
        _ => None,
    }
}

impl Files {
    /// Returns the files that have tables, of some of a user. A file that can't be looked at counts: reading it says why.
    pub async fn with_tables(&self, user_id: UserId, files: &[Attachment]) -> Vec<Attachment> {
        let mut found = Vec::new();
        for file in files.iter().filter(|file| table_format(file).is_some()) {
            if !is_any_json(file) || self.is_json_table(user_id, file).await {
                found.push(file.clone());
            }
        }
        found
    }

    async fn is_json_table(&self, user_id: UserId, file: &Attachment) -> bool {
        let Ok(Some(stored)) = self.find(user_id, file.id).await else {
            return true;
        };
        let beginning = self.read_beginning(stored.location, MAX_BEGINNING_BYTES).await;
        beginning.is_ok_and(|beginning| begins_as_table(&beginning))
    }

    /// Returns the path of the database with a file's tables, which is made if there is none yet. It is deleted with the
    /// file.
    ///
    /// # Errors
    ///
    /// If the file has no tables or can't be read.
    pub async fn table_database(&self, file: &StoredFile) -> Result<PathBuf, TableFileError> {
        let format = table_format(&file.attachment).ok_or(TableFileError::NoTables)?;
        let path = self.0.contents.path(file.location, ContentForm::Tables);
        if tokio::fs::try_exists(&path).await? {
            self.0
                .contents
                .note_use(file.location, ContentForm::Tables)
                .await?;
            return Ok(path);
        }
        let name = file.location.stored_name;
        if let Some(reason) = self.0.unreadable_tables.lock().get(&name) {
            return Err(TableFileError::Unreadable(reason.clone()));
        }
        let made = self.0.make_tables(file.location, format).await;
        if made.is_ok() && !self.0.is_within_quota(file.location.user_id).await? {
            self.0.contents.delete_tables(file.location).await?;
            return Err(TableFileError::NoRoom);
        }
        if let Err(TableFileError::Unreadable(reason)) = &made {
            self.0.remember_unreadable(name, reason);
        }
        made.map(|()| path)
    }

    /// Places the content of a file at a path, if nothing is there yet. If the content may be a link, nobody may write to it
    /// there.
    ///
    /// # Errors
    ///
    /// If the content can't be read, or the path can't be written.
    pub async fn place_content(
        &self,
        location: FileLocation,
        path: PathBuf,
        may_link: bool,
    ) -> io::Result<()> {
        // A call that was stopped may have placed it. To write to a link would write to the content.
        if tokio::fs::try_exists(&path).await? {
            return Ok(());
        }
        let content = self
            .0
            .contents
            .local_path(location, ContentForm::Original)
            .await?;
        if may_link && tokio::fs::hard_link(&content, &path).await.is_ok() {
            return Ok(());
        }
        let part = path.with_extension(format!("part-{}", Uuid::now_v7()));
        tokio::fs::copy(&content, &part).await?;
        tokio::fs::rename(&part, &path).await
    }
}

impl Inner {
    /// Remembers why a file can't be read: its content never changes.
    fn remember_unreadable(&self, name: Uuid, reason: &str) {
        let mut unreadable = self.unreadable_tables.lock();
        if unreadable.len() == MAX_UNREADABLE_FILES {
            unreadable.clear();
        }
        unreadable.insert(name, reason.to_owned());
    }

    async fn make_tables(&self, location: FileLocation, format: TableFormat) -> Result<(), TableFileError> {
        let arguments = [
            tables::SUBCOMMAND.to_owned(),
            format.as_str().to_owned(),
            self.settings.reader_bytes.to_string(),
        ];
        let _permit = self.reader_queue.acquire(Origin::Made).await?;
        let read = run_reader(
            &self.contents,
            location,
            ContentForm::Tables,
            &self.settings,
            &arguments,
        );
        let output = read.await.map_err(PrepareError::from)?;
        if !output.status.success() {
            // Other lines are of the libraries, such as one about memory.
            return Err(match output.last_line.strip_prefix(tables::REASON) {
                Some(reason) => TableFileError::Unreadable(single_line(reason, MAX_REASON_CHARS)),
                None => TableFileError::NotRead,
            });
        }
        Ok(output.prepared.keep().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_a_table_of_objects_only() {
        for (text, expected) in [
            ("[{\"a\": 1}]", true),
            ("\u{feff} \n[ \n {", true),
            ("{\"a\": 1}\n{\"a\": 2}\n", true),
            ("{\"a\": [1, {}]}\r\n\r\n{}", true),
            ("{\"a\": 1}", false),
            ("{\"a\": 1}\n", false),
            ("{\n  \"a\": 1\n}\n", false),
            // Its second line is the mistake that the error names.
            ("{\"a\": 1}\n[1]", true),
            ("[1, 2]", false),
            ("[[1, 2], [3]]", false),
            ("[]", false),
            ("[\"a\"]", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(begins_as_table(text.as_bytes()), expected, "{text:?}");
        }
    }
}
