//! The budgets of what a browser loads, and whether a figure has grown since they were last looked at.

use crate::figures::Figure;

/// The figure of the document and the files that it names, without headers.
pub const FIRST_PAGE: &str = "the first page and the files that it names";

/// A budget of bytes as sent, without fonts.
struct Budget {
    /// [`FIRST_PAGE`], or the name of the figure in `benches/browser`.
    figure: &'static str,
    limit: f64,
    /// The figure when it was last accepted. A change that needs more writes the new one here and says why.
    accepted: f64,
}

const BUDGETS: [Budget; 2] = [
    Budget {
        figure: FIRST_PAGE,
        limit: 300e3,
        accepted: 270.4e3,
    },
    Budget {
        figure: "bytes of all for an answer with code, a table and a formula",
        limit: 560e3,
        accepted: 532.9e3,
    },
];

/// The growth that is reported, relative to the accepted figure.
const REPORTED_GROWTH: f64 = 0.05;

/// One row: a figure beside its budget.
pub struct BudgetRow {
    pub figure: &'static str,
    pub bytes: f64,
    pub limit: f64,
    /// Relative to the accepted figure: 0.1 is a tenth more.
    pub growth: f64,
}

impl BudgetRow {
    /// Returns true if the figure is over its budget, or has grown by so much that somebody has to decide.
    pub fn is_reported(&self) -> bool {
        self.bytes > self.limit || self.growth > REPORTED_GROWTH
    }
}

/// Returns the rows of the figures that have a budget and were measured.
pub fn compare(figures: &[Figure]) -> Vec<BudgetRow> {
    let row = |budget: &Budget| {
        let figure = figures.iter().find(|figure| figure.name == budget.figure)?;
        let bytes = figure.value?;
        Some(BudgetRow {
            figure: budget.figure,
            bytes,
            limit: budget.limit,
            growth: bytes / budget.accepted - 1.0,
        })
    };
    BUDGETS.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(bytes: f64) -> Vec<BudgetRow> {
        compare(&[Figure {
            name: BUDGETS[0].figure.into(),
            value: Some(bytes),
            unit: String::new(),
        }])
    }

    #[test]
    fn reports_growth_and_what_is_over_budget() {
        let accepted = BUDGETS[0].accepted;
        assert!(!rows(accepted * 1.04)[0].is_reported());
        assert!(rows(accepted * 1.06)[0].is_reported());
        assert!(rows(BUDGETS[0].limit + 1.0)[0].is_reported());
        assert_eq!(rows(accepted).len(), 1);
    }
}
