//! The text of a notification, by which a node tells others of a commit.

use crate::{jobs::Owner, nodes::CommitHint};
use parlor_protocol::Position;

/// The maximum length of a notification in bytes. Postgres takes 7,999.
const MAX_PAYLOAD_BYTES: usize = 7_900;

impl CommitHint {
    /// Returns a hint that everything may have changed.
    pub(crate) fn unknown() -> Self {
        Self {
            is_unknown: true,
            ..Self::default()
        }
    }

    /// Returns the text of a notification: the id of the node, letters for what has changed, and the positions by user.
    pub(crate) fn write(&self, owner: Owner) -> String {
        let mut text = format!("{owner} ");
        for (is_set, letter) in [(self.has_shared_changes, 's'), (self.has_work_changes, 'w')] {
            if is_set {
                text.push(letter);
            }
        }
        for (user_id, position) in &self.positions {
            text.push_str(&format!(" {user_id}={}", position.0));
            if text.len() > MAX_PAYLOAD_BYTES {
                return format!("{owner} *");
            }
        }
        text
    }

    /// Reads the text of a notification; `None` if it is this node's own.
    pub(crate) fn read(text: &str, own: &str) -> Option<Self> {
        let mut words = text.split(' ');
        if words.next() == Some(own) {
            return None;
        }
        let letters = words.next().unwrap_or("*");
        let mut hint = Self {
            has_shared_changes: letters.contains('s'),
            has_work_changes: letters.contains('w'),
            is_unknown: letters.contains('*'),
            positions: Vec::new(),
        };
        for word in words {
            let read = word.split_once('=').and_then(|(user, position)| {
                let position = position.parse().ok().map(Position)?;
                Some((user.parse().ok()?, position))
            });
            match read {
                Some(position) => hint.positions.push(position),
                None => hint.is_unknown = true,
            }
        }
        Some(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::UserId;

    #[test]
    fn a_notification_is_read_as_written() {
        let (own, other) = (Owner::of_new_process(), Owner::of_new_process());
        let hint = CommitHint {
            positions: vec![(UserId::LOCAL, Position(7)), (UserId::new(), Position(1 << 40))],
            has_work_changes: true,
            ..CommitHint::default()
        };
        let text = hint.write(other);
        assert_eq!(CommitHint::read(&text, &own.to_string()), Some(hint));
        assert_eq!(CommitHint::read(&text, &other.to_string()), None);
        let long = CommitHint {
            positions: (0..1000).map(|_| (UserId::new(), Position(1))).collect(),
            ..CommitHint::default()
        };
        assert!(long.write(other).len() < 8000);
        assert_eq!(
            CommitHint::read(&long.write(other), ""),
            Some(CommitHint::unknown())
        );
    }
}
