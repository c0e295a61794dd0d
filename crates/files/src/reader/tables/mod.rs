//! Reading of all rows of a file with tables, as a database of SQLite that queries read. The file is read twice: first for
//! the types of its columns, then for its rows.

mod columns;
mod database;
mod json;

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use self::{
    columns::{ColumnScan, ScannedTable},
    database::TableWriter,
};
use super::{
    ProcessLimits, delimited, input_file, limit_resources, markup_table,
    table::TableSink,
    workbook::{self, WorkbookKind},
};
use parlor_protocol::FileProblem;

/// The name of the subcommand.
pub const SUBCOMMAND: &str = "read-tables";

/// The memory and the output for each byte of the file: its text decoded, the database, and a copy of that. A workbook is
/// compressed.
const MEMORY_PER_BYTE: u64 = 12;
const OUTPUT_PER_BYTE: u64 = 20;

/// The maximum memory for the file.
const MAX_FILE_MEMORY: u64 = 2 << 30;

/// The size of the output besides that.
const OUTPUT_BYTES: u64 = 64 << 20;
/// The output that every file may have, and the factor with which a small file may have more, up to [`OUTPUT_BYTES`].
const SMALL_OUTPUT_BYTES: u64 = 4 << 20;
const SMALL_OUTPUT_PER_BYTE: u64 = 100;

/// The beginning of the line with a reason for the person.
pub const REASON: &str = "reason: ";

/// The form of a file with tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TableFormat {
    /// Values separated by commas, semicolons, tabs or bars.
    Delimited,
    /// A JSON object in each line, or a JSON array of objects.
    Json,
    /// Tables in HTML or XML.
    Markup,
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

impl TableFormat {
    /// The value of the subcommand's argument.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delimited => "delimited",
            Self::Json => "json",
            Self::Markup => "markup",
            Self::Xlsx => "xlsx",
            Self::Xlsb => "xlsb",
            Self::Xls => "xls",
            Self::Ods => "ods",
        }
    }
}

/// The arguments of the process.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TablesArguments {
    pub format: TableFormat,
    /// The maximum memory besides that for the file.
    pub memory: u64,
}

/// Reads a file from the standard input, and writes the database to the standard output. The last line of the standard
/// error is the reason if it can't be read.
pub fn run(arguments: TablesArguments) -> ExitCode {
    match read_and_write(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let reason = match &error {
                ReadError::Known(_) => REASON,
                ReadError::Other(_) => "",
            };
            let _ = writeln!(io::stderr(), "{reason}{error}");
            ExitCode::FAILURE
        }
    }
}

/// The reason why a file can't be read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    /// A reason that the person is shown.
    #[error("{0}")]
    Known(io::Error),
    #[error("{0}")]
    Other(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Other(error)
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(io::Error::other(error))
    }
}

fn read_and_write(arguments: TablesArguments) -> Result<(), ReadError> {
    let mut input = input_file()?;
    let size = input.metadata()?.len();
    let fixed = size
        .saturating_mul(SMALL_OUTPUT_PER_BYTE)
        .saturating_add(SMALL_OUTPUT_BYTES);
    let fixed = fixed.min(OUTPUT_BYTES);
    limit_resources(ProcessLimits {
        memory: arguments
            .memory
            .saturating_add(size.saturating_mul(MEMORY_PER_BYTE).min(MAX_FILE_MEMORY)),
        output: size.saturating_mul(OUTPUT_PER_BYTE).saturating_add(fixed),
    });
    let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    input.read_to_end(&mut data)?;
    let database = to_database(arguments.format, &data)?;
    let content = database.serialize("main")?;
    Ok(io::stdout().write_all(&content)?)
}

/// Returns a database with the tables of a file, `t1` and so on, and one about them ([`database`]).
fn to_database(format: TableFormat, data: &[u8]) -> Result<rusqlite::Connection, ReadError> {
    let mut scan = ColumnScan::default();
    read(format, data, &mut scan).map_err(ReadError::Known)?;
    let tables: Vec<ScannedTable> = scan.finish();
    if tables.is_empty() {
        return Err(ReadError::Known(io::Error::other("it has no rows")));
    }
    let connection = rusqlite::Connection::open_in_memory()?;
    let mut writer = TableWriter::new(&connection, tables);
    read(format, data, &mut writer)?;
    writer.finish()?;
    Ok(connection)
}

fn read(format: TableFormat, data: &[u8], sink: &mut dyn TableSink) -> io::Result<()> {
    let damaged = |problem: FileProblem| match problem {
        FileProblem::Encrypted => io::Error::other("it needs a password"),
        _ => io::Error::other("it is damaged"),
    };
    let workbook = |kind, sink| workbook::read_rows(kind, data, sink).map(drop).map_err(damaged);
    match format {
        TableFormat::Delimited if delimited::read_rows(data, sink) => Ok(()),
        TableFormat::Delimited => Err(damaged(FileProblem::Damaged)),
        TableFormat::Json => json::read_rows(data, sink),
        TableFormat::Markup if markup_table::read_rows(data, sink) => Ok(()),
        TableFormat::Markup => Err(damaged(FileProblem::Damaged)),
        TableFormat::Xlsx => workbook(WorkbookKind::Xlsx, sink),
        TableFormat::Xlsb => workbook(WorkbookKind::Xlsb, sink),
        TableFormat::Xls => workbook(WorkbookKind::Xls, sink),
        TableFormat::Ods => workbook(WorkbookKind::Ods, sink),
    }
}

#[cfg(test)]
mod tests;
