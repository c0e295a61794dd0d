//! Jobs of accounts.

use super::*;
use parlor_storage::accounts::{AccountChange, AccountWarrant};

/// Stores a change of an account.
fn change_account(process: &Process, change: AccountChange) {
    let changes = [Change::Account(change)];
    let committed = process.storage.commit(parlor_base::clock::now(), &changes);
    let committed = process.runtime.block_on(committed).unwrap();
    assert!(committed.outcomes[0].is_ok(), "{committed:?}");
}

#[test]
fn a_job_of_a_disabled_account_waits() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let process = Process::start::<true>(folder.path(), &world, 3);
    let create = |user_id, warrant| AccountChange::Create {
        user_id,
        name: format!("user {user_id}"),
        password: None,
        warrant,
    };
    change_account(&process, create(UserId::new(), AccountWarrant::Setup));
    change_account(&process, create(UserId::LOCAL, AccountWarrant::SignUp));
    world.stay(Some(("double/2", false)));
    let id = process.begin(&[1, 2, 3]);
    process.wait_until_staying(&world);
    let disable = |is_disabled| AccountChange::SetDisabled {
        user_id: UserId::LOCAL,
        is_disabled,
    };
    change_account(&process, disable(true));
    world.stay(None);
    process.kill();
    // The next process takes it and begins nothing.
    let process = Process::start::<true>(folder.path(), &world, 3);
    let job = process.wait_for(id, RunStatus::Waiting);
    assert_eq!(
        job.job.error.map(|error| error.code).as_deref(),
        Some("account_disabled")
    );
    assert_eq!(world.effects(), once(&[1]));
    change_account(&process, disable(false));
    process.go_on(id);
    process.wait_for(id, RunStatus::Complete);
    assert_eq!(world.effects(), once(&[1, 2, 3]));
    process.kill();
}
