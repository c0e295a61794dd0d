//! The part of the rows that is in the document.

use leptos::prelude::*;

/// The number of rows in the document.
pub const ROWS: usize = 80;

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
    row_height: RwSignal<u32>,
}

impl RowWindow {
    pub fn new() -> Self {
        Self {
            first: RwSignal::new(0),
            row_height: RwSignal::new(ROW_HEIGHT),
        }
    }

    /// The first row. Tracked.
    pub fn first(self) -> usize {
        self.first.get()
    }

    /// The height of a row in CSS pixels. Tracked.
    pub fn row_height(self) -> u32 {
        self.row_height.get()
    }

    /// Stores the measured height of a row.
    pub fn set_row_height(self, height: u32) {
        if height > 0 && self.row_height.get_untracked() != height {
            self.row_height.set(height);
        }
    }

    /// Moves the window to a position of the scroll bar, in CSS pixels.
    pub fn scroll_to(self, top: u32) {
        let row = (top / self.row_height.get_untracked()) as usize;
        let first = first_row(row);
        if self.first.get_untracked() != first {
            self.first.set(first);
        }
    }
}

/// Returns the first row of the window for the first visible row.
fn first_row(visible: usize) -> usize {
    visible.saturating_sub(BEFORE) / STEP * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_has_the_visible_rows() {
        // A screen of 2,160 CSS pixels has 54 rows with the headings.
        const VISIBLE: usize = 54;
        for visible in 0..500 {
            let first = first_row(visible);
            assert!(
                first <= visible && visible + VISIBLE <= first + ROWS,
                "{visible}: {first}"
            );
        }
        assert_eq!((first_row(0), first_row(23), first_row(24)), (0, 0, 16));
    }
}
