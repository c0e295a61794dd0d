//! The audit log.

use super::{
    accounts::{HOUR_MS, apply, make_accounts},
    *,
};
use crate::{
    accounts::{AccountChange, FailedAttempt},
    audit::{Actor, AuditAction, SignInWay},
};

pub async fn the_audit_log_is_bounded(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let fail = || AccountChange::NoteFailure {
        user_id: Some(TEST_USER),
        address: "192.0.2.1".into(),
        attempt: FailedAttempt::SignIn,
    };
    apply(&*storage, fail()).await.unwrap();
    assert_eq!(
        storage.audit_log(None, 10).await.unwrap(),
        [],
        "without accounts there is none"
    );
    make_accounts(&*storage).await;
    for _ in 0..3 {
        apply(&*storage, fail()).await.unwrap();
    }
    let all = storage.audit_log(None, 10).await.unwrap();
    let actions: Vec<_> = all.iter().map(|entry| (&*entry.name, entry.action)).collect();
    let failed = ("ann", AuditAction::SignInFailed);
    let made = [
        ("ben", AuditAction::AccountMade),
        ("ann", AuditAction::AccountMade),
    ];
    assert_eq!(actions, [failed, failed, failed, made[0], made[1]]);
    assert_eq!(storage.audit_log(Some(all[0].id), 2).await.unwrap(), all[1..3]);
    let trim = |before, keep| AccountChange::TrimAuditLog { before, keep };
    apply(&*storage, trim(NOON, 2)).await.unwrap();
    let kept = storage.audit_log(None, 10).await.unwrap();
    assert_eq!(
        kept,
        [&all[..2], &all[3..]].concat(),
        "failures push nothing else out"
    );
    apply(&*storage, trim(Timestamp(NOON.0 + HOUR_MS), 2))
        .await
        .unwrap();
    assert_eq!(storage.audit_log(None, 10).await.unwrap(), []);
}

pub async fn an_administrator_is_named_with_the_account(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let actor = Actor {
        user_id: TEST_USER,
        address: "192.0.2.7".into(),
        signs_in_by: SignInWay::Password,
    };
    let (user_id, heir) = (other_user(), None);
    let by = |change| AccountChange::By {
        actor: actor.clone(),
        change: Box::new(change),
    };
    let delete = by(AccountChange::Delete { user_id, heir });
    let too_early = apply(&*storage, delete.clone()).await;
    assert_eq!(too_early, Err(ChangeRejection::DeletionGivenUp));
    let begin = by(AccountChange::BeginDeletion { user_id, heir });
    apply(&*storage, begin).await.unwrap();
    apply(&*storage, delete.clone()).await.unwrap();
    let again = apply(&*storage, delete).await;
    assert!(again.is_err(), "and nothing is noted");
    let log = storage.audit_log(None, 3).await.unwrap();
    assert_eq!(log[0].action, AuditAction::Deleted);
    assert_eq!(
        (&*log[0].name, &*log[0].about, &*log[0].address),
        ("ann", "ben", "192.0.2.7")
    );
    let before = [&log[1].action, &log[2].action];
    assert_eq!(before, [&AuditAction::Disabled, &AuditAction::AccountMade]);
}
