//! Moving from cell to cell with the keyboard. One cell can be reached by Tab: the last that had the focus.

/// The number of rows that a page has.
const PAGE: usize = 10;

/// A cell by its place on the screen: row 0 has the headings, row 1 is the first that is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub row: usize,
    pub column: usize,
}

/// The number of rows that are found, and of columns.
pub type Extent = (usize, usize);

impl Place {
    /// Returns the place that a key leads to; `None` if the key moves nothing.
    pub fn after(self, key: &str, has_modifier: bool, (rows, columns): Extent) -> Option<Self> {
        let last_column = columns.saturating_sub(1);
        let row = |row: usize| Self {
            row: row.min(rows),
            ..self
        };
        let column = |column: usize| Self {
            column: column.min(last_column),
            ..self
        };
        Some(match (key, has_modifier) {
            ("ArrowDown", false) => row(self.row + 1),
            ("ArrowUp", false) => row(self.row.saturating_sub(1)),
            ("ArrowRight", false) => column(self.column + 1),
            ("ArrowLeft", false) => column(self.column.saturating_sub(1)),
            ("PageDown", false) => row(self.row + PAGE),
            ("PageUp", false) => row(self.row.saturating_sub(PAGE)),
            ("Home", false) => column(0),
            ("End", false) => column(last_column),
            ("Home", true) => Self::default(),
            ("End", true) => Self {
                row: rows,
                column: last_column,
            },
            _ => return None,
        })
    }

    /// Returns the id of the cell's element.
    pub fn element_id(self, grid: &str) -> String {
        [grid, "-", &self.row.to_string(), "-", &self.column.to_string()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_within_the_grid() {
        let at = |row, column| Place { row, column };
        for (from, key, has_modifier, to) in [
            (at(0, 0), "ArrowUp", false, Some(at(0, 0))),
            (at(0, 0), "ArrowDown", false, Some(at(1, 0))),
            (at(20, 1), "ArrowDown", false, Some(at(20, 1))),
            (at(1, 2), "ArrowRight", false, Some(at(1, 2))),
            (at(5, 1), "PageUp", false, Some(at(0, 1))),
            (at(15, 1), "PageDown", false, Some(at(20, 1))),
            (at(5, 1), "Home", false, Some(at(5, 0))),
            (at(5, 1), "End", false, Some(at(5, 2))),
            (at(5, 1), "Home", true, Some(at(0, 0))),
            (at(5, 1), "End", true, Some(at(20, 2))),
            (at(5, 1), "ArrowDown", true, None),
            (at(5, 1), "a", false, None),
        ] {
            assert_eq!(from.after(key, has_modifier, (20, 3)), to, "{key}");
        }
        assert_eq!(at(3, 1).element_id("grid"), "grid-3-1");
    }
}
