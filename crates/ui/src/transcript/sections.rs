//! The sections of an answer: unbroken stretches of work, each shown as one line that can be opened, and what is shown in its
//! place.

use leptos::prelude::With;

use crate::state::{PartKind, PartRow};
use parlor_protocol::{
    ToolCall, ToolStatus,
    tool_kind::{ToolKind, ToolOutput},
};

/// The position of a part in its answer: the node, and the part in it.
pub type PartKey = (usize, usize);

/// Consecutive parts of an answer. One that is not folded has one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<P> {
    pub is_folded: bool,
    pub parts: Vec<P>,
}

/// The role of a part in the order of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Thought,
    /// A call that leaves nothing to look at.
    Call,
    /// What is shown in its place.
    Shown,
}

/// Groups the parts. Order is kept, and every part is in exactly one section. A single call is a line of its own already, so it is not folded.
fn group<P>(parts: impl IntoIterator<Item = P>, role: impl Fn(&P) -> Role) -> Vec<Section<P>> {
    let mut sections: Vec<Section<P>> = Vec::new();
    let mut can_grow = false;
    for part in parts {
        let role = role(&part);
        let is_work = role != Role::Shown;
        match sections.last_mut() {
            Some(stretch) if is_work && can_grow => {
                stretch.is_folded = true;
                stretch.parts.push(part);
            }
            _ => sections.push(Section {
                is_folded: role == Role::Thought,
                parts: vec![part],
            }),
        }
        can_grow = is_work;
    }
    sections
}

/// Groups the parts of an answer. Readers of a share see neither thoughts nor errors. Tracked.
pub fn group_parts(parts: &[PartRow], is_read_only: bool) -> Vec<Section<PartRow>> {
    let role = |part: &PartRow| match &part.kind {
        PartKind::Thinking => Role::Thought,
        PartKind::Tool(call) if call.with(|call| leaves_something(call, is_read_only)) => Role::Shown,
        PartKind::Tool(_) => Role::Call,
        PartKind::Text | PartKind::Payload(_) | PartKind::File(_) => Role::Shown,
    };
    let is_hidden = |part: &PartRow| part.is_blank() || (is_read_only && part.is_thinking());
    group(parts.iter().filter(|part| !is_hidden(part)).cloned(), role)
}

/// Returns true for a call with something to look at or to decide.
fn leaves_something(call: &ToolCall, is_read_only: bool) -> bool {
    let makes_images = |kind: &ToolKind| kind.output == ToolOutput::Images;
    let is_open = match call.status {
        ToolStatus::Waiting | ToolStatus::Failed => !is_read_only,
        // A placeholder has the place of the image.
        ToolStatus::Running => call.kind().is_some_and(makes_images),
        ToolStatus::Allowed
        | ToolStatus::Complete
        | ToolStatus::Denied
        | ToolStatus::Stopped
        | ToolStatus::Unknown => false,
    };
    is_open || call.payload.is_some() || !call.attachments.is_empty()
}

impl Section<PartRow> {
    /// The key of the view. A fold keeps its view while it grows.
    pub fn view_key(&self) -> (usize, usize, usize) {
        let first = self.parts.first();
        match first {
            Some(first) if self.is_folded => (first.key.0, first.key.1, 0),
            Some(part) => part.view_key(),
            None => (0, 0, 0),
        }
    }

    pub fn first_key(&self) -> Option<PartKey> {
        self.parts.first().map(|part| part.key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use parlor_protocol::{PayloadRef, examples};

    fn roles() -> impl Strategy<Value = Vec<Role>> {
        let role = prop_oneof![Just(Role::Thought), Just(Role::Call), Just(Role::Shown)];
        prop::collection::vec(role, 0..40)
    }

    fn grouped(roles: &[Role]) -> Vec<Section<(usize, Role)>> {
        group(roles.iter().copied().enumerate(), |(_, role)| *role)
    }

    fuzzing::properties! {
        256;

        #[test]
        fn keeps_order_and_every_part_once(roles in roles()) {
            let parts = grouped(&roles).into_iter().flat_map(|section| section.parts);
            prop_assert_eq!(parts.collect::<Vec<_>>(), roles.into_iter().enumerate().collect::<Vec<_>>());
        }

        #[test]
        fn folds_whole_stretches_of_work_only(roles in roles()) {
            let sections = grouped(&roles);
            let is_work = |section: &Section<(usize, Role)>| section.parts.iter().all(|(_, role)| *role != Role::Shown);
            for section in &sections {
                let is_line = matches!(section.parts[..], [(_, Role::Shown | Role::Call)]);
                prop_assert_eq!(section.is_folded, !is_line);
                prop_assert!(is_work(section) || section.parts.len() == 1);
            }
            for pair in sections.windows(2) {
                prop_assert!(!(is_work(&pair[0]) && is_work(&pair[1])), "one stretch in two sections");
            }
        }

        #[test]
        fn more_work_never_adds_a_line(roles in roles()) {
            let mut more = roles.clone();
            more.push(Role::Call);
            let ends_in_work = roles.last().is_some_and(|role| *role != Role::Shown);
            let expected = grouped(&roles).len() + usize::from(!ends_in_work);
            prop_assert_eq!(grouped(&more).len(), expected);
        }
    }

    #[test]
    fn only_what_can_be_looked_at_stays() {
        let call = |tool, status| ToolCall::for_test(tool, status);
        let stays = |call: &ToolCall| leaves_something(call, false);
        for status in [
            ToolStatus::Allowed,
            ToolStatus::Running,
            ToolStatus::Complete,
            ToolStatus::Denied,
            ToolStatus::Stopped,
            ToolStatus::Unknown,
        ] {
            assert!(!stays(&call("look", status)), "{status:?}");
        }
        assert!(stays(&call("look", ToolStatus::Waiting)));
        assert!(stays(&call("look", ToolStatus::Failed)));
        assert!(
            !leaves_something(&call("look", ToolStatus::Failed), true),
            "readers do not get errors"
        );
        assert!(stays(&call("generate_image", ToolStatus::Running)));
        assert!(!stays(&call("generate_image", ToolStatus::Stopped)));
        let payload = Some(PayloadRef {
            payload_id: "p1".into(),
            kind: "table".into(),
            summary: "A table".into(),
            preview_rows: None,
        });
        assert!(stays(&ToolCall {
            payload,
            ..call("look", ToolStatus::Complete)
        }));
        let attachments = vec![examples::attachment()];
        assert!(stays(&ToolCall {
            attachments,
            ..call("look", ToolStatus::Complete)
        }));
    }
}
