//! The kinds of values in a column, collected while its rows are read.

use super::Cell;

/// The kind of a value that is not NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Boolean,
    Integer,
    /// A finite number.
    Real,
    /// A number that is not finite.
    Infinite,
    /// A text such as `NaN`, which may be such a number.
    InfiniteText,
    Decimal,
    Text,
    Binary,
}

impl CellKind {
    const ALL: [Self; 8] = [
        Self::Boolean,
        Self::Integer,
        Self::Real,
        Self::Infinite,
        Self::InfiniteText,
        Self::Decimal,
        Self::Text,
        Self::Binary,
    ];

    fn of(cell: &Cell) -> Option<Self> {
        let is_infinite = |text: &str| matches!(text, "NaN" | "Infinity" | "-Infinity");
        Some(match cell {
            Cell::Null => return None,
            Cell::Bool(_) => Self::Boolean,
            Cell::Integer(_) => Self::Integer,
            Cell::Real(value) if value.is_finite() => Self::Real,
            Cell::Real(_) => Self::Infinite,
            Cell::Decimal(text) if is_infinite(text) => Self::Infinite,
            Cell::Decimal(_) => Self::Decimal,
            Cell::Text(text) if is_infinite(text) => Self::InfiniteText,
            Cell::Text(_) => Self::Text,
            Cell::Binary(_) => Self::Binary,
        })
    }
}

/// The kinds of a column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellKinds {
    first: Option<CellKind>,
    /// One bit a kind.
    found: u8,
}

impl CellKinds {
    pub(super) fn add(&mut self, cell: &Cell) {
        if let Some(kind) = CellKind::of(cell) {
            self.first = self.first.or(Some(kind));
            self.found |= 1 << kind as u8;
        }
    }

    /// Returns the kind of the first value that is not NULL.
    pub(super) fn first(self) -> Option<CellKind> {
        self.first
    }

    /// Returns the kinds that there are.
    pub fn all(self) -> impl Iterator<Item = CellKind> {
        let is_found = move |kind: &CellKind| self.found & (1 << *kind as u8) != 0;
        CellKind::ALL.into_iter().filter(is_found)
    }

    /// Returns true if there are numbers and nothing else but missing values.
    pub(super) fn are_numbers(self) -> bool {
        let is_number = |kind| {
            matches!(
                kind,
                CellKind::Integer | CellKind::Real | CellKind::Infinite | CellKind::Decimal
            )
        };
        self.first.is_some() && self.all().all(is_number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_all_but_texts() {
        let kinds = |cells: &[Cell]| {
            let mut kinds = CellKinds::default();
            cells.iter().for_each(|cell| kinds.add(cell));
            kinds
        };
        let numbers = kinds(&[
            Cell::Null,
            Cell::Real(f64::NAN),
            Cell::Integer(1),
            Cell::Decimal("1.10".into()),
        ]);
        assert!(numbers.are_numbers());
        assert_eq!(numbers.first(), Some(CellKind::Infinite));
        let mixed = kinds(&[Cell::Integer(1), Cell::Text("NaN".into())]);
        assert!(!mixed.are_numbers());
        let found: Vec<_> = mixed.all().collect();
        assert_eq!(found, [CellKind::Integer, CellKind::InfiniteText]);
        assert!(!kinds(&[Cell::Null]).are_numbers());
    }
}
