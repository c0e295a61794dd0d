//! The content of a grid: its cells, and which rows are shown in which order.

use std::sync::Arc;

use crate::markdown::{Order, sort_by_texts};

/// The columns and the rows of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridContent {
    /// The name of the table for assistive technology.
    pub label: String,
    pub columns: Vec<GridColumn>,
    pub rows: Vec<GridRow>,
    /// The place of the rows if they are a page of more, which are not sorted and filtered here.
    pub page: Option<GridPage>,
}

/// The place of a page of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridPage {
    /// The number of rows before it.
    pub before: usize,
    /// The number of all rows.
    pub all: usize,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridColumn {
    pub name: String,
    /// True if the cells are numbers, which are aligned at their end.
    pub is_numeric: bool,
    /// The name of the button that opens the column; without it there is none.
    pub open: Option<String>,
    /// The text that explains the column, shown with its name.
    pub about: String,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridRow {
    /// One for each column.
    pub cells: Vec<GridCell>,
    /// Words by which the row is found besides those of its cells.
    pub words: String,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridCell {
    pub text: String,
    /// The URL that it leads to.
    pub href: Option<String>,
    /// The value by which it is sorted, if that is not its text.
    pub order: Option<String>,
    /// More about it, shown on hover and while it has the focus.
    pub about: String,
    pub marks: Vec<CellMark>,
    /// True if a press opens it.
    pub opens: bool,
}

/// A mark after the text of a cell: its words, which are read aloud or shown on hover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellMark {
    /// Something that should be looked at.
    Problem(String),
    /// The person has changed it.
    Edited(String),
    /// The words stand in place of a text.
    Note(String),
}

impl GridCell {
    /// A cell with a text only.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Returns the text by which it is sorted.
    fn sort_text(&self) -> &str {
        self.order.as_ref().unwrap_or(&self.text)
    }
}

impl GridContent {
    /// Returns the texts of all rows in which words are found, in lower case.
    pub fn search_texts(&self) -> Arc<[String]> {
        let text = |row: &GridRow| {
            let mut text = row.words.clone();
            for cell in &row.cells {
                text.push('\n');
                text.push_str(&cell.text);
            }
            text.to_lowercase()
        };
        self.rows.iter().map(text).collect()
    }

    /// Returns the place of its rows; without a page, of the `found` ones.
    pub fn page_of(&self, found: usize) -> GridPage {
        let whole = GridPage {
            before: 0,
            all: found,
        };
        self.page.unwrap_or(whole)
    }

    /// Returns the numbers of all rows in an order. A page has its order already.
    pub fn order(&self, order: Option<Order>) -> Arc<[usize]> {
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let Some(order) = order.filter(|_| self.page.is_none()) else {
            return rows.into();
        };
        let cells = self.rows.iter().map(|row| row.cells.get(order.column()));
        let values: Vec<&str> = cells.map(|cell| cell.map_or("", GridCell::sort_text)).collect();
        sort_by_texts(rows, &values, order).into()
    }
}

/// Returns the rows that have all words of a filter, in their order. `texts` are those of [`GridContent::search_texts`], by the numbers
/// of the rows.
pub fn filter_rows(rows: &[usize], texts: &[String], filter: &str) -> Arc<[usize]> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let is_found = |row: &usize| {
        let text = texts.get(*row);
        text.is_some_and(|text| words.iter().all(|word| text.contains(word)))
    };
    rows.iter().copied().filter(is_found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(rows: &[[&str; 2]]) -> GridContent {
        let row = |cells: &[&str; 2]| GridRow {
            cells: cells.iter().map(|text| GridCell::text(*text)).collect(),
            words: String::new(),
        };
        GridContent {
            rows: rows.iter().map(row).collect(),
            ..GridContent::default()
        }
    }

    #[test]
    fn filters_by_words_and_sorts_numbers() {
        let mut content = content(&[["Big apple", "10"], ["apple", "9"], ["Pear", "1"], ["Plum", ""]]);
        content.rows[2].words = "Conference".into();
        let texts = content.search_texts();
        let find = |filter: &str, order| filter_rows(&content.order(order), &texts, filter).to_vec();
        let up = Order::next(None, 1);
        let down = Order::next(up, 1);
        assert_eq!(find("", None), [0, 1, 2, 3]);
        assert_eq!(find("APPLE", None), [0, 1]);
        assert_eq!(find("apple big", None), [0]);
        assert_eq!(find("conference", None), [2]);
        assert_eq!(find("kiwi", up), [] as [usize; 0]);
        assert_eq!(find("", up), [2, 1, 0, 3], "empty ones are last");
        assert_eq!(find("", down), [0, 1, 2, 3]);
        assert_eq!(find("apple", down), [0, 1]);
    }

    #[test]
    fn page_keeps_its_order() {
        let mut content = content(&[["b", ""], ["a", ""]]);
        assert_eq!(content.page_of(1), GridPage { before: 0, all: 1 });
        let page = GridPage {
            before: 100,
            all: 102,
        };
        content.page = Some(page);
        assert_eq!(content.order(Order::next(None, 0)).to_vec(), [0, 1]);
        assert_eq!(content.page_of(2), page);
    }

    #[test]
    fn values_for_the_order_come_before_texts() {
        let mut content = content(&[["2024 Mar", ""], ["2024 Feb", ""]]);
        for (row, order) in ["2", "1"].into_iter().enumerate() {
            content.rows[row].cells[0].order = Some(order.into());
        }
        assert_eq!(content.order(Order::next(None, 0)).to_vec(), [1, 0]);
    }
}
