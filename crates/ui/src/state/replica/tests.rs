use super::*;
use parlor_protocol::{ErrorCode, Position};

/// The numbers of the log up to a position. Each change is the number after the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn up_to(position: u64) -> Self {
        Self((1..=position).collect())
    }
}

impl Replicated for Numbers {
    type Change = u64;
    type Update = bool;

    fn apply(&mut self, change: &u64) -> Result<bool, MissingEventError> {
        let last = self.0.last().copied().unwrap_or_default();
        if *change > last + 1 {
            return Err(MissingEventError(Position(*change)));
        }
        let is_new = *change == last + 1;
        self.0.extend(is_new.then_some(*change));
        Ok(is_new)
    }
}

fn error() -> ApiError {
    ApiError::new(ErrorCode::Internal, "Broken.")
}

#[test]
fn snapshot_and_changes_overlap_in_any_order() {
    for (requested_at, snapshot_at) in [(0, 0), (0, 3), (2, 3), (2, 6), (6, 6)] {
        let mut replica = Replica::<Numbers>::default();
        for change in 1..=requested_at {
            assert_eq!(replica.apply(&change), Applied::Awaiting);
        }
        replica.begin_load();
        assert!(matches!(replica.remote(), Remote::Loading));
        for change in requested_at + 1..=6 {
            assert_eq!(replica.apply(&change), Applied::Awaiting);
        }
        assert_eq!(replica.finish_load(Numbers::up_to(snapshot_at)), Ok(()));
        assert_eq!(replica.get(), Some(&Numbers::up_to(6)));
        assert_eq!(replica.apply(&7), Applied::Changed(true));
        assert_eq!(replica.apply(&7), Applied::Changed(false));
    }
}

#[test]
fn value_follows_while_it_is_loaded_again() {
    let mut replica = Replica::new(Numbers::up_to(2));
    replica.begin_load();
    assert_eq!(replica.apply(&3), Applied::Changed(true));
    replica.begin_load();
    assert_eq!(replica.apply(&4), Applied::Changed(true));
    // The responses arrive in the other order.
    assert_eq!(replica.finish_load(Numbers::up_to(3)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(4)));
    assert_eq!(replica.apply(&5), Applied::Changed(true));
    assert_eq!(replica.finish_load(Numbers::up_to(2)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(5)));
    assert!(!replica.is_loading());
}

#[test]
fn gap_keeps_the_value_until_a_snapshot() {
    let mut replica = Replica::new(Numbers::up_to(2));
    assert_eq!(replica.apply(&4), Applied::NeedsSnapshot);
    assert!(replica.is_behind() && replica.is_loading());
    assert_eq!(replica.apply(&5), Applied::Awaiting);
    assert_eq!(replica.get(), Some(&Numbers::up_to(2)));
    assert_eq!(replica.finish_load(Numbers::up_to(3)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(5)));
    assert!(!replica.is_behind());
}

#[test]
fn gap_during_a_load_begins_no_other() {
    let mut replica = Replica::new(Numbers::up_to(2));
    replica.begin_load();
    assert_eq!(replica.apply(&4), Applied::Awaiting);
    assert!(replica.is_behind());
    assert_eq!(replica.finish_load(Numbers::up_to(3)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(4)));
    assert!(!replica.is_loading());
}

#[test]
fn contradicting_snapshot_is_refused() {
    let mut replica = Replica::new(Numbers::up_to(2));
    assert_eq!(replica.apply(&5), Applied::NeedsSnapshot);
    assert!(replica.finish_load(Numbers::up_to(3)).is_err());
    assert_eq!(replica.get(), Some(&Numbers::up_to(2)));
    assert!(replica.is_loading() && replica.is_behind());
    assert_eq!(replica.finish_load(Numbers::up_to(4)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(5)));
}

#[test]
fn failed_load_keeps_the_value() {
    let mut replica = Replica::new(Numbers::up_to(2));
    replica.begin_load();
    replica.fail_load(error());
    assert_eq!(replica.apply(&3), Applied::Changed(true));
    assert_eq!(replica.get(), Some(&Numbers::up_to(3)));

    let mut replica = Replica::<Numbers>::default();
    replica.begin_load();
    replica.begin_load();
    replica.fail_load(error());
    assert!(matches!(replica.remote(), Remote::Loading));
    replica.fail_load(error());
    assert!(matches!(replica.remote(), Remote::Failed(_)));
    replica.begin_load();
    assert!(matches!(replica.remote(), Remote::Loading));
}

#[test]
fn changes_kept_for_a_failed_load_are_dropped() {
    let mut replica = Replica::<Numbers>::default();
    replica.begin_load();
    replica.apply(&2);
    replica.fail_load(error());
    replica.begin_load();
    // The snapshot could not be followed by the change 2.
    assert_eq!(replica.finish_load(Numbers::up_to(0)), Ok(()));
    assert_eq!(replica.get(), Some(&Numbers::up_to(0)));
}
