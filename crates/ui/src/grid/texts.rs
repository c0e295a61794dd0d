//! The texts of the grid.

pub(super) const SORT: &str = "Sort";
