//! The part of the rows that is in the document.

use leptos::prelude::*;

/// The number of rows in the document until the height of the grid is measured.
const ROWS: usize = 80;

/// The maximum number of rows whose texts wrap: all are in the document, since their heights differ.
pub const WRAPPED_ROWS: usize = 60;

/// The window moves by whole steps of this many rows, so that few scrolls move it.
const STEP: usize = 16;

/// The rows before the first visible one that are in the document at least.
const BEFORE: usize = 8;

/// The height of a row until it is measured, in CSS pixels: that of the style sheet.
const ROW_HEIGHT: u32 = 40;

/// The part of the rows that is in the document.
#[derive(Clone, Copy)]
pub struct RowWindow {
    first: RwSignal<usize>,
    count: RwSignal<usize>,
    row_height: RwSignal<u32>,
}

impl RowWindow {
    pub fn new() -> Self {
        Self {
            first: RwSignal::new(0),
            count: RwSignal::new(ROWS),
            row_height: RwSignal::new(ROW_HEIGHT),
        }
    }

    /// The first row. Tracked.
    pub fn first(self) -> usize {
        self.first.get()
    }

    /// The number of rows. Tracked.
    pub fn count(self) -> usize {
        self.count.get()
    }

    /// The height of a row in CSS pixels. Tracked.
    pub fn row_height(self) -> u32 {
        self.row_height.get()
    }

    /// Stores the measured height of a row in CSS pixels.
    pub fn set_row_height(self, height: u32) {
        if height > 0 && self.row_height.get_untracked() != height {
            self.row_height.set(height);
        }
    }

    /// Stores the measured height of the visible part in CSS pixels.
    pub fn set_visible_height(self, height: u32) {
        let count = row_count((height / self.row_height.get_untracked()) as usize + 1);
        if height > 0 && self.count.get_untracked() != count {
            self.count.set(count);
        }
    }

    /// Returns the first row and the one after the last for a position of the scroll bar.
    pub fn rows_at(self, top: u32) -> (usize, usize) {
        let row = (top / self.row_height.get_untracked()) as usize;
        let first = first_row(row);
        (first, first + self.count.get_untracked())
    }

    /// Moves the window to a position of the scroll bar, in CSS pixels.
    pub fn scroll_to(self, top: u32) {
        let (first, _) = self.rows_at(top);
        if self.first.get_untracked() != first {
            self.first.set(first);
        }
    }
}

/// Returns the first row of the window for the first visible row.
fn first_row(visible: usize) -> usize {
    visible.saturating_sub(BEFORE) / STEP * STEP
}

/// Returns the number of rows of the window for a number of visible rows.
fn row_count(visible: usize) -> usize {
    visible + BEFORE + STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_has_the_visible_rows() {
        for height in [1, 11, 54] {
            for visible in 0..500 {
                let first = first_row(visible);
                let end = first + row_count(height);
                assert!(
                    first <= visible && visible + height <= end,
                    "{visible} and {height} more: {first} to {end}"
                );
            }
        }
        assert_eq!((first_row(0), first_row(23), first_row(24)), (0, 0, 16));
    }
}
