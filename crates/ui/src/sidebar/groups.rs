//! The list grouped by day.

use leptos::prelude::*;

use crate::{
    runtime::clock::{Clock, DateGroup},
    state::ListRow,
};

/// The conversations under one heading.
#[derive(Clone, Debug, PartialEq)]
pub struct DayGroup {
    pub group: DateGroup,
    rows: Vec<ListRow>,
}

/// Groups the rows, which are ordered by their last activity. Tracks the signals that the groups depend on.
pub fn group_by_day(rows: &[ListRow], clock: Clock) -> Vec<DayGroup> {
    let mut groups: Vec<DayGroup> = Vec::new();
    for row in rows {
        let group = clock.group(row.updated_at.get());
        match groups.iter_mut().find(|day| day.group == group) {
            Some(day) => day.rows.push(row.clone()),
            None => groups.push(DayGroup {
                group,
                rows: vec![row.clone()],
            }),
        }
    }
    groups
}

/// The rows of one group.
pub fn rows_of_group(groups: &[DayGroup], group: DateGroup) -> Vec<ListRow> {
    groups
        .iter()
        .find(|day| day.group == group)
        .map(|day| day.rows.clone())
        .unwrap_or_default()
}
