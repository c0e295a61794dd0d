//! The rule that an administrator who can sign in remains.

use super::{
    accounts::{apply, create},
    *,
};
use crate::{
    accounts::{AccountChange, AccountWarrant, ProviderIdentity, Role},
    audit::{Actor, SignInWay},
};

pub async fn administrators_count_who_can_sign_in(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    // Ann has a password; ben is an administrator whom a provider authenticates.
    let setup = create(TEST_USER, "ann", AccountWarrant::Setup);
    apply(&*storage, setup).await.unwrap();
    let identity = ProviderIdentity {
        issuer: "https://id.example".into(),
        subject: "7".into(),
    };
    let provided = AccountChange::CreateProvided {
        user_id: other_user(),
        name: "ben".into(),
        identity: identity.clone(),
        role: Some(Role::Administrator),
    };
    apply(&*storage, provided).await.unwrap();
    let disable = async |user_id, signs_in_by: &SignInWay| {
        let change = AccountChange::SetDisabled {
            user_id,
            is_disabled: true,
        };
        let actor = Actor {
            user_id: TEST_USER,
            address: String::new(),
            signs_in_by: signs_in_by.clone(),
        };
        let change = Box::new(change);
        let outcome = apply(&*storage, AccountChange::By { actor, change }).await;
        if outcome.is_ok() {
            let change = AccountChange::SetDisabled {
                user_id,
                is_disabled: false,
            };
            apply(&*storage, change).await.unwrap();
        }
        outcome.is_ok()
    };
    let provider = |issuer: &str| SignInWay::Provider {
        issuer: issuer.into(),
    };
    for (way, can_ann, can_ben) in [
        (SignInWay::Password, false, true),
        (provider("https://id.example"), true, false),
        (SignInWay::Proxy, true, true),
    ] {
        assert_eq!(disable(TEST_USER, &way).await, can_ann, "{way:?}");
        assert_eq!(disable(other_user(), &way).await, can_ben, "{way:?}");
    }
}
