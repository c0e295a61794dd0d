//! Moves in lists that are one stop of Tab: the arrow keys, Home and End go from item to item.

/// A move in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Next,
    Previous,
    First,
    Last,
}

/// The end of a list: moves stop there, or go on at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    Stop,
    Wrap,
}

impl Move {
    /// The move of a key in a list from top to bottom.
    pub fn from_key(key: &str) -> Option<Self> {
        match key {
            "ArrowDown" => Some(Self::Next),
            "ArrowUp" => Some(Self::Previous),
            "Home" => Some(Self::First),
            "End" => Some(Self::Last),
            _ => None,
        }
    }

    /// The same for a list below a text field, in which Home and End move the caret.
    pub fn from_arrow(key: &str) -> Option<Self> {
        Self::from_key(key).filter(|to| matches!(to, Self::Next | Self::Previous))
    }

    /// The item to move to from another one, in a list of `count` items. Without a current item, a move begins at an end.
    pub fn target(self, from: Option<usize>, count: usize, at_end: AtEnd) -> Option<usize> {
        let last = count.checked_sub(1)?;
        let wrapped = |end: usize, other: usize| match at_end {
            AtEnd::Stop => end,
            AtEnd::Wrap => other,
        };
        Some(match (self, from) {
            (Self::First, _) | (Self::Next, None) => 0,
            (Self::Last, _) | (Self::Previous, None) => last,
            (Self::Next, Some(from)) if from >= last => wrapped(last, 0),
            (Self::Next, Some(from)) => from + 1,
            (Self::Previous, Some(0)) => wrapped(0, last),
            (Self::Previous, Some(from)) => (from - 1).min(last),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_within_the_list() {
        use AtEnd::{Stop, Wrap};
        for (key, from, count, at_end, expected) in [
            ("ArrowDown", Some(0), 3, Stop, Some(1)),
            ("ArrowDown", Some(2), 3, Stop, Some(2)),
            ("ArrowDown", Some(2), 3, Wrap, Some(0)),
            ("ArrowDown", None, 3, Stop, Some(0)),
            ("ArrowUp", Some(0), 3, Stop, Some(0)),
            ("ArrowUp", Some(0), 3, Wrap, Some(2)),
            ("ArrowUp", None, 3, Stop, Some(2)),
            // The list has become shorter.
            ("ArrowUp", Some(7), 3, Stop, Some(2)),
            ("ArrowDown", Some(7), 3, Stop, Some(2)),
            ("Home", Some(2), 3, Wrap, Some(0)),
            ("End", Some(0), 3, Wrap, Some(2)),
            ("ArrowDown", None, 0, Wrap, None),
            ("End", Some(0), 0, Stop, None),
        ] {
            let target = Move::from_key(key).and_then(|to| to.target(from, count, at_end));
            assert_eq!(target, expected, "{key} from {from:?} of {count}");
        }
        assert_eq!(Move::from_key("a"), None);
        assert_eq!(Move::from_arrow("Home"), None);
        assert_eq!(Move::from_arrow("ArrowUp"), Some(Move::Previous));
    }
}
