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
    ProcessLimits, delimited, input_file, limit_resources,
    table::TableSink,
    workbook::{self, WorkbookKind},
};
use crate::protocol::FileProblem;

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
    /// One for the person.
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
        TableFormat::Xlsx => workbook(WorkbookKind::Xlsx, sink),
        TableFormat::Xlsb => workbook(WorkbookKind::Xlsb, sink),
        TableFormat::Xls => workbook(WorkbookKind::Xls, sink),
        TableFormat::Ods => workbook(WorkbookKind::Ods, sink),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    /// Returns the columns with their types, and the rows, of the only table.
    fn table(format: TableFormat, data: &str) -> (Vec<String>, Vec<Vec<Value>>) {
        let database = to_database(format, data.as_bytes()).expect("it is read");
        let mut statement = database.prepare("SELECT * FROM t1").expect("a table");
        let columns: Vec<String> = statement
            .columns()
            .iter()
            .map(|column| format!("{} {}", column.name(), column.decl_type().unwrap_or_default()))
            .collect();
        let rows = statement
            .query_map([], |row| (0..columns.len()).map(|index| row.get(index)).collect())
            .expect("rows");
        let rows = rows.collect::<Result<_, _>>().expect("values");
        (columns, rows)
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn columns_have_the_type_of_all_their_values() {
        let (columns, rows) = table(
            TableFormat::Delimited,
            "place,count,share,code,mixed,long\nKøge,3,0.5,0042,1,9223372036854775808\n\"a, b\",-4,1e3,17,x,2\n,,,,,\n",
        );
        assert_eq!(
            columns,
            [
                "place TEXT",
                "count INTEGER",
                "share REAL",
                "code TEXT",
                "mixed TEXT",
                "long TEXT"
            ]
        );
        let first = vec![
            text("Køge"),
            Value::Integer(3),
            Value::Real(0.5),
            text("0042"),
            text("1"),
            text("9223372036854775808"),
        ];
        assert_eq!(rows[0], first);
        assert_eq!(
            rows[1][..3],
            [text("a, b"), Value::Integer(-4), Value::Real(1000.0)]
        );
        assert_eq!(rows[2], vec![Value::Null; 6]);
    }

    #[test]
    fn decimal_commas_are_numbers() {
        let (columns, rows) = table(TableFormat::Delimited, "Ort;Betrag\nKöln;3,25\nBonn;2\n");
        assert_eq!(columns, ["Ort TEXT", "Betrag REAL"]);
        assert_eq!(rows[0][1], Value::Real(3.25));
        assert_eq!(rows[1][1], Value::Real(2.0));
    }

    #[test]
    fn columns_have_different_names() {
        let (columns, rows) = table(TableFormat::Delimited, "a,A,,a\nx,y,z,w,more\n");
        assert_eq!(
            columns,
            ["a TEXT", "A_2 TEXT", "column_3 TEXT", "a_3 TEXT", "column_5 TEXT"]
        );
        assert_eq!(rows[0][4], text("more"));
        let (columns, rows) = table(TableFormat::Delimited, "1,2\n3,4\n");
        assert_eq!(columns, ["column_1 INTEGER", "column_2 INTEGER"]);
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn json_lines_have_the_keys_of_all_lines() {
        let lines = "{\"a\": 1, \"b\": \"x\"}\n\n{\"c\": [1, {\"d\": null}], \"a\": 2.5}\n{\"a\": null, \"b\": true}\n";
        let (columns, rows) = table(TableFormat::Json, lines);
        assert_eq!(columns, ["a REAL", "b TEXT", "c TEXT"]);
        assert_eq!(rows[0], [Value::Real(1.0), text("x"), Value::Null]);
        assert_eq!(rows[1][2], text("[1, {\"d\": null}]"));
        assert_eq!(rows[2], [Value::Null, text("true"), Value::Null]);
        let (columns, rows) = table(TableFormat::Json, "[{\"n\": 1}, {\"n\": 2}]");
        assert_eq!((columns, rows.len()), (vec!["n INTEGER".to_owned()], 2));
    }

    #[test]
    fn missing_words_are_null_among_numbers() {
        let (columns, rows) = table(
            TableFormat::Delimited,
            "a,b,c\n1,NA,TRUE\n-,x,false\nNULL,y,True\n",
        );
        assert_eq!(columns, ["a INTEGER", "b TEXT", "c BOOLEAN"]);
        assert_eq!(rows[0], [Value::Integer(1), text("NA"), Value::Integer(1)]);
        assert_eq!(rows[1], [Value::Null, text("x"), Value::Integer(0)]);
    }

    #[test]
    fn unclear_commas_stay_text() {
        for column in [
            "999\n12,345",
            "1,234\n2,345",
            "999,50\n1.234",
            "9007199254740993\n0.5",
        ] {
            let (columns, _) = table(
                TableFormat::Delimited,
                &format!("name\tn\nx\t{}\n", column.replace('\n', "\ny\t")),
            );
            assert_eq!(columns, ["name TEXT", "n TEXT"], "{column}");
        }
        let (columns, _) = table(TableFormat::Delimited, "name\tn\nx\t0,123\ny\t1,234\n");
        assert_eq!(columns, ["name TEXT", "n REAL"]);
    }

    #[test]
    fn json_keeps_order_and_digits() {
        let (columns, rows) = table(
            TableFormat::Json,
            "[{\"z\": 18446744073709551617, \"a\": 1, \"b\": 2, \"b\\u0000\": 3}]",
        );
        assert_eq!(columns, ["z TEXT", "a INTEGER", "b INTEGER", "b_2 INTEGER"]);
        assert_eq!(rows[0][0], text("18446744073709551617"));
        let error = to_database(TableFormat::Json, b"{\"a\": 1}\n{\"a\": secret}").expect_err("no JSON");
        assert_eq!(error.to_string(), "line 2 is no JSON object");
    }

    #[test]
    fn tables_say_what_is_missing() {
        let wide = vec!["x"; 1001].join(",");
        let database =
            to_database(TableFormat::Delimited, format!("{wide}\n{wide}\n").as_bytes()).expect("it is read");
        let row = database.query_row(
            "SELECT name, row_count, cut, width FROM parlor_tables",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        );
        assert_eq!(row, Ok((Some("t1".to_owned()), 1, None::<String>, 1001)));
    }

    #[test]
    fn what_has_no_rows_is_an_error() {
        for (format, data) in [
            (TableFormat::Delimited, ""),
            (TableFormat::Delimited, "\n\n"),
            (TableFormat::Json, "{\"a\": 1}\nnot JSON\n"),
            (TableFormat::Json, "[1, 2]"),
            (TableFormat::Xlsx, "no workbook"),
        ] {
            assert!(
                to_database(format, data.as_bytes()).is_err(),
                "{format:?} {data:?}"
            );
        }
    }
}
