//! The list in groups: the pinned conversations, the projects with theirs, those of others, then the other conversations by day.

use leptos::prelude::*;

use super::texts;
use crate::{
    runtime::{
        clock::{Clock, DateGroup},
        each::ItemKey,
    },
    state::ListRow,
};
use parlor_protocol::ProjectId;

/// A group of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListGroup {
    Pinned,
    Projects,
    /// Projects of others, which the user may read.
    SharedProjects,
    Day(DateGroup),
}

impl ListGroup {
    /// Returns the heading above the group in the list.
    pub fn label(self) -> String {
        match self {
            Self::Pinned => texts::PINNED.into(),
            Self::Projects => texts::PROJECTS.into(),
            Self::SharedProjects => texts::SHARED_WITH_YOU.into(),
            Self::Day(day) => day.label(),
        }
    }
}

impl From<ListGroup> for ItemKey {
    fn from(group: ListGroup) -> Self {
        match group {
            // No day has these keys.
            ListGroup::Pinned => Self(0, u64::MAX),
            ListGroup::Projects => Self(1, u64::MAX),
            ListGroup::SharedProjects => Self(2, u64::MAX),
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
pub fn group_rows(rows: &[ListRow], projects: &[ProjectId], has_shared: bool, clock: Clock) -> Vec<RowGroup> {
    let mut groups: Vec<RowGroup> = Vec::new();
    let mut of_projects = Vec::new();
    for row in rows {
        let group = match (row.is_pinned.get(), project_of(row, projects)) {
            (true, _) => ListGroup::Pinned,
            (false, Some(_)) => {
                of_projects.push(row.clone());
                continue;
            }
            (false, None) => ListGroup::Day(clock.group(row.updated_at.get())),
        };
        match groups.iter_mut().find(|known| known.group == group) {
            Some(known) => known.rows.push(row.clone()),
            None => groups.push(RowGroup {
                group,
                rows: vec![row.clone()],
            }),
        }
    }
    let has_pinned = groups
        .first()
        .is_some_and(|first| first.group == ListGroup::Pinned);
    let place = usize::from(has_pinned);
    if has_shared {
        let shared = RowGroup {
            group: ListGroup::SharedProjects,
            rows: Vec::new(),
        };
        groups.insert(place, shared);
    }
    if !projects.is_empty() {
        let projects = RowGroup {
            group: ListGroup::Projects,
            rows: of_projects,
        };
        groups.insert(place, projects);
    }
    groups
}

/// The project of a row, if it is one of these. Tracked.
pub fn project_of(row: &ListRow, projects: &[ProjectId]) -> Option<ProjectId> {
    row.project_id.get().filter(|id| projects.contains(id))
}

/// The rows of one group.
pub fn rows_of_group(groups: &[RowGroup], group: ListGroup) -> Vec<ListRow> {
    groups
        .iter()
        .find(|known| known.group == group)
        .map(|known| known.rows.clone())
        .unwrap_or_default()
}
