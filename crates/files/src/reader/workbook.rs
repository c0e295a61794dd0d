//! Rows and previews of workbooks. Excel's current form is read cell by cell; the others have to be read as a whole.

use std::io::Cursor;

use calamine::{
    Data, Ods, OdsError, Range, Reader, SheetType, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
    open_workbook_from_rs,
};

use super::{
    document::PreviewLimits,
    table::{CellKind, CutReason, SheetPreviews, TableSink},
    workbook_cell::{as_ref, read_value},
};
use parlor_protocol::{FilePreview, FileProblem};

/// The maximum number of sheets that are read.
const MAX_SHEETS: usize = 20;

/// The number of cells after which no more rows of a workbook are read.
const MAX_CELLS: usize = 5_000_000;

/// The forms of workbooks.
#[derive(Clone, Copy, Debug)]
pub enum WorkbookKind {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

/// The bytes of a workbook, which are read at any place.
type WorkbookBytes<'a> = Cursor<&'a [u8]>;

/// Reads the preview of a workbook.
pub fn read(kind: WorkbookKind, data: &[u8], limits: PreviewLimits) -> Result<FilePreview, FileProblem> {
    let mut previews = SheetPreviews::new(limits);
    let omitted_tables = read_rows(kind, data, &mut previews)?;
    let tables = previews.finish();
    if tables.is_empty() {
        return Err(FileProblem::Damaged);
    }
    Ok(FilePreview {
        text: String::new(),
        tables,
        omitted_tables,
    })
}

/// Reads the rows of the first sheets of a workbook. Returns the number of the other sheets.
pub fn read_rows(kind: WorkbookKind, data: &[u8], sink: &mut dyn TableSink) -> Result<usize, FileProblem> {
    read_cells(kind, data, MAX_CELLS, sink)
}

fn read_cells(
    kind: WorkbookKind,
    data: &[u8],
    max_cells: usize,
    sink: &mut dyn TableSink,
) -> Result<usize, FileProblem> {
    let data = Cursor::new(data);
    match kind {
        WorkbookKind::Xlsx => read_xlsx(data, max_cells, sink),
        WorkbookKind::Xlsb => {
            let book = open_workbook_from_rs::<Xlsb<_>, _>(data);
            let is_encrypted = |error: &XlsbError| matches!(error, XlsbError::Password);
            Ok(read_ranges(
                book.map_err(|error| problem(is_encrypted(&error)))?,
                max_cells,
                sink,
            ))
        }
        WorkbookKind::Xls => {
            let book = open_workbook_from_rs::<Xls<_>, _>(data);
            let is_encrypted = |error: &XlsError| matches!(error, XlsError::Password);
            Ok(read_ranges(
                book.map_err(|error| problem(is_encrypted(&error)))?,
                max_cells,
                sink,
            ))
        }
        WorkbookKind::Ods => {
            let book = open_workbook_from_rs::<Ods<_>, _>(data);
            let is_encrypted = |error: &OdsError| matches!(error, OdsError::Password);
            Ok(read_ranges(
                book.map_err(|error| problem(is_encrypted(&error)))?,
                max_cells,
                sink,
            ))
        }
    }
}

fn problem(is_encrypted: bool) -> FileProblem {
    match is_encrypted {
        true => FileProblem::Encrypted,
        false => FileProblem::Damaged,
    }
}

fn read_xlsx(
    data: WorkbookBytes<'_>,
    max_cells: usize,
    sink: &mut dyn TableSink,
) -> Result<usize, FileProblem> {
    let mut book = open_workbook_from_rs::<Xlsx<_>, _>(data)
        .map_err(|error| problem(matches!(error, XlsxError::Password)))?;
    let names = sheet_names(&book);
    let mut left = max_cells;
    for name in names.iter().take(MAX_SHEETS) {
        sink.start_table(name);
        // If one can't be read, the other sheets may be readable.
        let cut = read_xlsx_sheet(&mut book, name, sink, &mut left).unwrap_or(Some(CutReason::Damaged));
        sink.end_table(cut);
    }
    omit_sheets(&names, sink);
    Ok(names.len().saturating_sub(MAX_SHEETS))
}

/// Names the sheets that are not read.
fn omit_sheets(names: &[String], sink: &mut dyn TableSink) {
    for name in names.iter().skip(MAX_SHEETS) {
        sink.omit_table(name, CutReason::Sheets);
    }
}

/// Reads the rows of a sheet. Returns the reason if there are more.
fn read_xlsx_sheet(
    book: &mut Xlsx<WorkbookBytes<'_>>,
    name: &str,
    sink: &mut dyn TableSink,
    left: &mut usize,
) -> Result<Option<CutReason>, XlsxError> {
    let mut reader = book.worksheet_cells_reader(name)?;
    let mut row: Vec<(CellKind, String)> = Vec::new();
    let mut row_index = None;
    let mut without_value = FormulasWithoutValue::default();
    loop {
        let cell = match reader.next_cell_with_formula_metadata() {
            Ok(Some(cell)) => cell,
            Ok(None) => break,
            // The reader is behind the value of this cell, which stays empty.
            Err(error) if is_of_value(&error) => continue,
            Err(error) => {
                push_owned_row(sink, &row);
                without_value.note(sink);
                return Err(error);
            }
        };
        let (at, column) = cell.pos;
        if row_index != Some(at) {
            push_owned_row(sink, &row);
            row.clear();
            row_index = Some(at);
        }
        if *left == 0 {
            without_value.note(sink);
            return Ok(Some(CutReason::Cells));
        }
        *left -= 1;
        let value = read_value(&cell.value);
        if cell.formula.is_some() && value.0 == CellKind::Empty {
            without_value.add((at, column));
        }
        // Columns that a sheet names without filling them are not kept.
        if value.0 != CellKind::Empty {
            let column = usize::try_from(column).unwrap_or_default();
            row.resize(
                row.len().max(column + 1).min(MAX_COLUMN),
                (CellKind::Empty, String::new()),
            );
            if let Some(place) = row.get_mut(column) {
                *place = value;
            }
        }
    }
    push_owned_row(sink, &row);
    without_value.note(sink);
    Ok(None)
}

/// The formulas whose values the program that wrote the file did not compute.
#[derive(Debug, Default)]
struct FormulasWithoutValue {
    count: usize,
    /// The row and the column of the first one.
    first: Option<(u32, u32)>,
}

impl FormulasWithoutValue {
    fn add(&mut self, at: (u32, u32)) {
        self.count += 1;
        self.first.get_or_insert(at);
    }

    /// Adds a note about the formulas without a stored value, if there are any.
    fn note(&self, sink: &mut dyn TableSink) {
        let Some((row, column)) = self.first else { return };
        let cell = format!("{}{}", column_letters(column), u64::from(row) + 1);
        let what = match self.count {
            1 => format!("The formula in {cell} has no stored value, so its cell is empty here."),
            count => format!(
                "{count} formulas have no stored value (the first is in {cell}), so their cells are empty here."
            ),
        };
        sink.note(format!(
            "{what} A spreadsheet program computes and stores the values when it saves the file."
        ));
    }
}

/// Returns the name of a column: A to Z, AA and so on.
fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut left = column.saturating_add(1);
    while left > 0 {
        left -= 1;
        letters.push(char::from(b'A' + (left % 26) as u8));
        left /= 26;
    }
    letters.iter().rev().collect()
}

/// Returns `true` for an error of one cell's value: one that the library does not know (`#SPILL!`), or that is not a number.
fn is_of_value(error: &XlsxError) -> bool {
    matches!(
        error,
        XlsxError::CellError(_) | XlsxError::ParseFloat(_) | XlsxError::CellTAttribute(_)
    )
}

/// The last column of Excel.
const MAX_COLUMN: usize = 16_384;

fn push_owned_row(sink: &mut dyn TableSink, row: &[(CellKind, String)]) {
    if !row.is_empty() {
        let cells: Vec<(CellKind, &str)> = row.iter().map(|(kind, text)| (*kind, &**text)).collect();
        sink.push_row(&cells);
    }
}

fn read_ranges<'a, B: Reader<WorkbookBytes<'a>>>(
    mut book: B,
    max_cells: usize,
    sink: &mut dyn TableSink,
) -> usize {
    let names = sheet_names(&book);
    let mut left = max_cells;
    for name in names.iter().take(MAX_SHEETS) {
        sink.start_table(name);
        let range: Result<Range<Data>, _> = book.worksheet_range(name);
        let mut cut = range.is_err().then_some(CutReason::Damaged);
        let range = range.unwrap_or_default();
        formulas_without_value(&mut book, name, &range).note(sink);
        for row in range.rows() {
            let count = row.iter().filter(|cell| **cell != Data::Empty).count();
            if count > left {
                (cut, left) = (Some(CutReason::Cells), 0);
                break;
            }
            left -= count;
            let cells: Vec<(CellKind, String)> = row.iter().map(|cell| read_value(&as_ref(cell))).collect();
            push_owned_row(sink, &cells);
        }
        sink.end_table(cut);
    }
    omit_sheets(&names, sink);
    names.len().saturating_sub(MAX_SHEETS)
}

fn formulas_without_value<'a, B: Reader<WorkbookBytes<'a>>>(
    book: &mut B,
    name: &str,
    values: &Range<Data>,
) -> FormulasWithoutValue {
    let mut found = FormulasWithoutValue::default();
    let Ok(formulas) = book.worksheet_formula(name) else {
        return found;
    };
    let (row, column) = formulas.start().unwrap_or_default();
    for (at_row, at_column, formula) in formulas.used_cells() {
        let offset = |start: u32, at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        let at = (offset(row, at_row), offset(column, at_column));
        if !formula.is_empty() && values.get_value(at).is_none_or(|value| *value == Data::Empty) {
            found.add(at);
        }
    }
    found
}

/// Returns the names of the sheets that are tables.
fn sheet_names<'a, B: Reader<WorkbookBytes<'a>>>(book: &B) -> Vec<String> {
    let sheets = book.sheets_metadata().iter();
    let tables = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet);
    tables.map(|sheet| sheet.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of rows of each sheet, and the reason if there are more.
    #[derive(Default)]
    struct Counts(Vec<(usize, Option<CutReason>)>);

    impl TableSink for Counts {
        fn start_table(&mut self, _name: &str) {
            self.0.push((0, None));
        }

        fn push_row(&mut self, _cells: &[(CellKind, &str)]) {
            self.0.last_mut().unwrap().0 += 1;
        }

        fn end_table(&mut self, cut: Option<CutReason>) {
            self.0.last_mut().unwrap().1 = cut;
        }
    }

    #[test]
    fn cells_are_limited_in_every_kind() {
        let fixture = |name: &str| std::fs::read(format!("../../tests/fixtures/files/{name}")).unwrap();
        for (kind, name) in [
            (WorkbookKind::Xlsx, "orders.xlsx"),
            (WorkbookKind::Xls, "orders.xls"),
            (WorkbookKind::Ods, "orders.ods"),
        ] {
            let (mut whole, mut cut) = (Counts::default(), Counts::default());
            read_rows(kind, &fixture(name), &mut whole).unwrap();
            read_cells(kind, &fixture(name), 10, &mut cut).unwrap();
            assert!(whole.0.iter().all(|(_, cut)| cut.is_none()), "{name}");
            let (rows, reason) = cut.0[0];
            assert!(rows > 0 && rows < whole.0[0].0, "{name}: {rows}");
            assert_eq!(reason, Some(CutReason::Cells), "{name}");
        }
    }
}
