//! Reading of documents: PDF files, workbooks, text documents, tables, notebooks and texts that are not UTF-8.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    ProcessLimits, delimited, input_file, limit_resources, markup_table, notebook, office,
    pdf::{self, ReadPages},
    text,
};
use crate::model_text::model_text;
use parlor_protocol::{FilePreview, FileProblem};

/// The name of the subcommand.
pub const SUBCOMMAND: &str = "read-document";

/// The stack of the thread that reads.
const STACK_BYTES: usize = 64 << 20;

/// The output besides the text, in bytes: the marks of its form as JSON.
const OUTPUT_BYTES: u64 = 1 << 20;

/// The bytes of the output for each byte of the text: JSON writes some characters as six.
const OUTPUT_PER_TEXT: u64 = 6;

/// The container of a document, as its first bytes tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Container {
    Pdf,
    /// A workbook or a text document, or anything else.
    Zip,
    /// A workbook in the form before 2007 or with a password, or anything else.
    Ole,
    /// A table as text: its values are separated by commas, semicolons, tabs or bars.
    Table,
    /// A text with the name of a workbook.
    WorkbookText,
    /// A notebook by its name: JSON, or any other text.
    Notebook,
    /// A text that is not UTF-8, or no text.
    Text,
}

impl Container {
    /// The media type of content that is not a document.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => crate::PDF,
            Self::Zip => "application/zip",
            Self::Ole => "application/x-ole-storage",
            Self::Table | Self::WorkbookText | Self::Notebook | Self::Text => "application/octet-stream",
        }
    }

    /// The value of the subcommand's argument.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Zip => "zip",
            Self::Ole => "ole",
            Self::Table => "table",
            Self::WorkbookText => "workbook-text",
            Self::Notebook => "notebook",
            Self::Text => "text",
        }
    }
}

/// The arguments of the process.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DocumentArguments {
    pub container: Container,
    /// The maximum size of the text for models, in bytes.
    pub max_bytes: usize,
    /// The maximum number of rows of each table.
    pub max_rows: usize,
    /// The maximum memory besides that for the file.
    pub memory: u64,
}

/// The last line of the process. Its standard output is the document's [`FilePreview`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The media type; `None` if the container has something that Parlor can't use.
    pub media_type: Option<String>,
    /// The size of the text for models, in bytes.
    pub text_bytes: Option<usize>,
    pub problem: Option<FileProblem>,
}

impl Findings {
    /// The findings of a document that exceeded a limit of its process.
    pub fn too_complex() -> Self {
        Self {
            problem: Some(FileProblem::TooComplex),
            ..Self::default()
        }
    }
}

/// The limits of a document's form for models.
#[derive(Clone, Copy, Debug)]
pub struct PreviewLimits {
    pub bytes: usize,
    pub rows: usize,
}

/// A document that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Document {
    pub media_type: Option<&'static str>,
    pub content: Result<FilePreview, FileProblem>,
}

impl Document {
    /// A container with something that Parlor can't use.
    pub const UNUSABLE: Self = Self {
        media_type: None,
        content: Err(FileProblem::Damaged),
    };

    pub fn new(media_type: &'static str, content: Result<FilePreview, FileProblem>) -> Self {
        Self {
            media_type: Some(media_type),
            content,
        }
    }
}

/// Reads a document from the standard input, and writes its form for models to the standard output. The last line of the
/// standard error is what was found.
pub fn run(arguments: DocumentArguments) -> ExitCode {
    let written = read_and_write(arguments);
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Limits this process, reads the document and writes its form and what was found.
fn read_and_write(arguments: DocumentArguments) -> io::Result<()> {
    let mut input = input_file()?;
    // Text that is decoded needs twice as much, and a workbook's reader keeps a copy.
    let size = input.metadata()?.len();
    limit_resources(ProcessLimits {
        memory: arguments.memory.saturating_add(size.saturating_mul(4)),
        output: (arguments.max_bytes as u64)
            .saturating_mul(OUTPUT_PER_TEXT)
            .saturating_add(OUTPUT_BYTES),
    });
    let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    input.read_to_end(&mut data)?;
    let limits = PreviewLimits {
        bytes: arguments.max_bytes,
        rows: arguments.max_rows,
    };
    let pages = Arc::new(ReadPages::default());
    let (sender, receiver) = mpsc::channel();
    let read_pages = pages.clone();
    thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let document = read(arguments.container, data, limits, &read_pages);
        let _ = sender.send(document);
    })?;
    let document = wait_for_document(&receiver, &pages, pdf::READING_TIME);
    let findings = match &document.content {
        Ok(preview) => Findings {
            media_type: document.media_type.map(str::to_owned),
            text_bytes: Some(model_text("", preview, limits.bytes).len()),
            problem: None,
        },
        Err(problem) => Findings {
            media_type: document.media_type.map(str::to_owned),
            text_bytes: None,
            problem: Some(*problem),
        },
    };
    if let Ok(preview) = &document.content {
        serde_json::to_writer(io::BufWriter::new(io::stdout()), preview)?;
    }
    writeln!(io::stderr(), "\n{}", serde_json::to_string(&findings)?)
}

/// Waits for the thread that reads. If it takes longer than `time`, or panics, the pages so far are the document.
fn wait_for_document(receiver: &Receiver<Document>, pages: &ReadPages, time: Duration) -> Document {
    let read = match receiver.recv_timeout(time) {
        // Without any page, the process may use all of its time for the first one.
        Err(RecvTimeoutError::Timeout) if pages.is_empty() => receiver.recv().ok(),
        read => read.ok(),
    };
    match read {
        Some(document) => document,
        None if pages.is_empty() => Document::UNUSABLE,
        None => Document::new(crate::PDF, pages.preview()),
    }
}

pub(super) fn read(
    container: Container,
    data: Vec<u8>,
    limits: PreviewLimits,
    pages: &ReadPages,
) -> Document {
    match container {
        Container::Pdf => Document::new(crate::PDF, pdf::read(data, limits.bytes, pages)),
        Container::Zip => office::read_zip(data, limits),
        Container::Ole => office::read_ole(&data, limits),
        Container::Table => delimited::read(&data, limits),
        Container::WorkbookText => markup_table::read(&data, limits),
        Container::Notebook => notebook::read(&data, limits.bytes),
        Container::Text => text::read(&data, limits.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_page_leaves_the_pages_before_it() {
        let pages = ReadPages::default();
        pages.push("Hello", false, 3);
        let (sender, receiver) = mpsc::channel();
        let document = wait_for_document(&receiver, &pages, Duration::ZERO);
        assert_eq!(
            document.content.map(|preview| preview.text),
            Ok("[Page 1]\nHello\n\n[Pages 2 to 3 of 3 are not shown.]\n".into())
        );
        // As after a panic at the first page.
        drop(sender);
        let document = wait_for_document(&receiver, &ReadPages::default(), Duration::ZERO);
        assert_eq!(document, Document::UNUSABLE);
    }
}
