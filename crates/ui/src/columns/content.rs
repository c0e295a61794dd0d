//! The columns in the grid: their cells between the rows' own.

use std::collections::HashMap;

use super::texts;
use crate::grid::{CellMark, GridCell, GridColumn, GridContent, GridRow};
use parlor_protocol::columns::{CellState, Column, ColumnType, ColumnsView, ShownCell};

/// The rows of a grid, and their own columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BaseRows {
    pub label: String,
    pub columns: Vec<GridColumn>,
    /// The number of these columns that stand before the person's.
    pub lead: usize,
    pub rows: Vec<BaseRow>,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BaseRow {
    /// The key of the row in its source.
    pub key: String,
    pub row: GridRow,
}

/// Returns the content of the grid.
pub fn grid_content(base: &BaseRows, view: &ColumnsView, is_running: bool) -> GridContent {
    let with_own = |own: &[GridColumn], added: Vec<GridColumn>| {
        let (before, after) = own.split_at(base.lead.min(own.len()));
        [before, &added, after].concat()
    };
    let columns = with_own(&base.columns, view.columns.iter().map(heading).collect());
    let cells: Vec<HashMap<&str, &ShownCell>> = view
        .cells
        .iter()
        .map(|cells| cells.cells.iter().map(|cell| (cell.row.as_str(), cell)).collect())
        .collect();
    let rows = base.rows.iter().map(|row| {
        let mut shown = row.row.clone();
        let added = cells.iter().map(|cells| {
            let known = cells.get(row.key.as_str());
            shown_cell(known.copied(), is_running)
        });
        let at = base.lead.min(shown.cells.len());
        shown.cells.splice(at..at, added);
        shown
    });
    GridContent {
        label: base.label.clone(),
        rows: rows.collect(),
        columns,
        page: None,
    }
}

fn heading(column: &Column) -> GridColumn {
    GridColumn {
        name: column.name.clone(),
        is_numeric: column.question.kind == ColumnType::Number,
        open: Some(texts::edit_column(&column.name)),
        about: column.question.question.clone(),
    }
}

fn shown_cell(known: Option<&ShownCell>, is_running: bool) -> GridCell {
    let mut cell = GridCell {
        opens: true,
        ..GridCell::default()
    };
    if let Some(correction) = known.and_then(|known| known.correction.as_ref()) {
        cell.text.clone_from(correction);
        if correction.is_empty() {
            cell.marks.push(CellMark::Note(texts::NO_ANSWER.into()));
        }
        cell.marks.push(CellMark::Edited(texts::CORRECTED.into()));
        return cell;
    }
    match known.map(|known| &known.state) {
        Some(CellState::Answered { value, has_passage }) => {
            cell.text.clone_from(value);
            if !has_passage {
                cell.marks.push(CellMark::Problem(texts::NO_PASSAGE.into()));
            }
        }
        Some(CellState::NoAnswer) => cell.marks.push(CellMark::Note(texts::NO_ANSWER.into())),
        Some(CellState::NoText) => cell.marks.push(CellMark::Note(texts::NO_TEXT.into())),
        Some(CellState::Failed { reason }) => {
            cell.marks.push(CellMark::Note(texts::FAILED.into()));
            cell.marks.push(CellMark::Problem(reason.clone()));
        }
        Some(CellState::Empty) | None => {
            let words = if is_running {
                texts::WAITING
            } else {
                texts::NOT_FILLED
            };
            cell.marks.push(CellMark::Note(words.into()));
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{
        ColumnId,
        columns::{ColumnCells, ColumnQuestion},
    };

    #[test]
    fn cells_stand_between_the_rows_own() {
        let row = |key: &str| BaseRow {
            key: key.into(),
            row: GridRow {
                cells: vec![GridCell::text(["Title ", key].concat()), GridCell::text("2024")],
                words: String::new(),
            },
        };
        let base = BaseRows {
            columns: vec![GridColumn::default(), GridColumn::default()],
            lead: 1,
            rows: ["1", "2", "3", "4", "5"].map(row).into(),
            ..BaseRows::default()
        };
        let cell = |row: &str, state, correction: Option<&str>| ShownCell {
            row: row.into(),
            state,
            correction: correction.map(str::to_owned),
        };
        let answered = |has_passage| CellState::Answered {
            value: "5".into(),
            has_passage,
        };
        let id = ColumnId::new();
        let view = ColumnsView {
            columns: vec![Column {
                id,
                name: "Amount".into(),
                question: ColumnQuestion {
                    question: "How much?".into(),
                    kind: ColumnType::Number,
                    choices: Vec::new(),
                    revision: 0,
                },
            }],
            cells: vec![ColumnCells {
                column_id: id,
                cells: vec![
                    cell("1", answered(true), None),
                    cell("2", answered(false), None),
                    cell("3", answered(true), Some("6")),
                    cell("4", CellState::NoAnswer, Some("")),
                ],
            }],
            ..ColumnsView::default()
        };
        let shown = |is_running| {
            let content = grid_content(&base, &view, is_running);
            assert_eq!(content.columns.len(), 3);
            let rows = content.rows.into_iter();
            rows.map(|row| {
                assert_eq!((row.cells.len(), row.cells[2].text.as_str()), (3, "2024"));
                (row.cells[1].text.clone(), row.cells[1].marks.clone())
            })
            .collect::<Vec<_>>()
        };
        let note = |words: &str| CellMark::Note(words.into());
        let edited = CellMark::Edited(texts::CORRECTED.into());
        assert_eq!(
            shown(false),
            [
                ("5".to_owned(), vec![]),
                ("5".into(), vec![CellMark::Problem(texts::NO_PASSAGE.into())]),
                ("6".into(), vec![edited.clone()]),
                (String::new(), vec![note(texts::NO_ANSWER), edited]),
                (String::new(), vec![note(texts::NOT_FILLED)]),
            ]
        );
        assert_eq!(shown(true)[4].1, [note(texts::WAITING)]);
    }
}
