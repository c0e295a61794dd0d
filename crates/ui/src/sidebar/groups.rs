//! The list in groups: the pinned conversations, then the others by day.

use leptos::prelude::*;

use super::texts;
use crate::{
    runtime::{
        clock::{Clock, DateGroup},
        each::ItemKey,
    },
    state::ListRow,
};

/// A group of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListGroup {
    Pinned,
    Day(DateGroup),
}

impl ListGroup {
    /// The heading.
    pub fn label(self) -> String {
        match self {
            Self::Pinned => texts::PINNED.into(),
            Self::Day(day) => day.label(),
        }
    }
}

impl From<ListGroup> for ItemKey {
    fn from(group: ListGroup) -> Self {
        match group {
            // No day has this key.
            ListGroup::Pinned => Self(0, u64::MAX),
            ListGroup::Day(day) => day.into(),
        }
    }
}

/// The conversations under one heading.
#[derive(Clone, Debug, PartialEq)]
pub struct RowGroup {
    pub group: ListGroup,
    rows: Vec<ListRow>,
}

/// Groups the rows, which are in the order of the list. Tracks the signals that the groups depend on.
pub fn group_rows(rows: &[ListRow], clock: Clock) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = Vec::new();
    for row in rows {
        let group = match row.is_pinned.get() {
            true => ListGroup::Pinned,
            false => ListGroup::Day(clock.group(row.updated_at.get())),
        };
        match groups.iter_mut().find(|known| known.group == group) {
            Some(known) => known.rows.push(row.clone()),
            None => groups.push(RowGroup {
                group,
                rows: vec![row.clone()],
            }),
        }
    }
    groups
}

/// The rows of one group.
pub fn rows_of_group(groups: &[RowGroup], group: ListGroup) -> Vec<ListRow> {
    groups
        .iter()
        .find(|known| known.group == group)
        .map(|known| known.rows.clone())
        .unwrap_or_default()
}
