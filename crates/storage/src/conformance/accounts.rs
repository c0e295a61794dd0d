//! Accounts, sessions and one-time links.

use super::*;
use crate::{
    accounts::{
        Account, AccountChange, AccountLink, AccountWarrant, LinkPurpose, ProviderIdentity, Role, Session,
        SignInMethod,
    },
    audit::{Actor, SignInWay},
};
use parlor_protocol::{ApiToken, LinkId, SessionId, TokenId};

pub(super) const HOUR_MS: i64 = 3_600_000;

pub(super) async fn apply(storage: &dyn Storage, change: AccountChange) -> Result<Outcome, ChangeRejection> {
    commit_one(storage, &Change::Account(change)).await
}

pub(super) fn create(user_id: UserId, name: &str, warrant: AccountWarrant) -> AccountChange {
    AccountChange::Create {
        user_id,
        name: name.into(),
        password: Some(format!("hash of {name}")),
        warrant,
    }
}

fn account(user_id: UserId, name: &str, role: Role) -> Account {
    Account {
        user_id,
        name: name.into(),
        role,
        created_at: NOON,
        is_disabled: false,
    }
}

fn session() -> Session {
    Session {
        id: SessionId::new(),
        device: "Firefox on Linux".into(),
        address: "192.0.2.1".into(),
        created_at: NOON,
        last_used_at: NOON,
        idle_ms: HOUR_MS,
        expires_at: Timestamp(NOON.0 + 2 * HOUR_MS),
        method: SignInMethod::Password,
    }
}

fn start(user_id: UserId, session: &Session, hash: u8) -> AccountChange {
    AccountChange::StartSession {
        user_id,
        session: session.clone(),
        hash: TokenHash([hash; 32]),
        replaces: None,
    }
}

fn link(purpose: LinkPurpose, expires_at: Timestamp) -> AccountLink {
    AccountLink {
        id: LinkId::new(),
        purpose,
        created_at: NOON,
        expires_at,
    }
}

/// Makes two accounts: the test user, an administrator, and the other user.
pub(super) async fn make_accounts(storage: &dyn Storage) {
    let setup = create(TEST_USER, "ann", AccountWarrant::Setup);
    assert_eq!(apply(storage, setup).await, Ok(Outcome::Done));
    let sign_up = create(other_user(), "ben", AccountWarrant::SignUp);
    assert_eq!(apply(storage, sign_up).await, Ok(Outcome::Done));
}

pub async fn only_the_first_account_is_set_up(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    assert!(!storage.has_accounts().await.unwrap());
    let too_early = apply(&*storage, create(other_user(), "ben", AccountWarrant::SignUp)).await;
    assert_eq!(too_early, Err(ChangeRejection::SetupNeeded));
    assert!(!storage.has_accounts().await.unwrap());
    make_accounts(&*storage).await;
    assert!(storage.has_accounts().await.unwrap());
    let eve = UserId::new();
    let again = apply(&*storage, create(eve, "eve", AccountWarrant::Setup)).await;
    assert_eq!(again, Err(ChangeRejection::SetupDone));
    let taken = apply(&*storage, create(eve, "ben", AccountWarrant::SignUp)).await;
    assert_eq!(taken, Err(ChangeRejection::NameTaken));
    let all = [
        account(TEST_USER, "ann", Role::Administrator),
        account(other_user(), "ben", Role::Member),
    ];
    assert_eq!(storage.accounts().await.unwrap(), all);
    assert_eq!(storage.account(eve).await.unwrap(), None);
    assert_eq!(
        storage.account_by_name("ann").await.unwrap(),
        Some((all[0].clone(), Some("hash of ann".into())))
    );
}

pub async fn a_session_lives_until_it_is_ended(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (one, two, three) = (session(), session(), session());
    for (session, hash) in [(&one, 1), (&two, 2), (&three, 3)] {
        let started = apply(&*storage, start(TEST_USER, session, hash)).await;
        assert_eq!(started, Ok(Outcome::DataDeleted));
    }
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    let all = [three.clone(), two.clone(), one.clone()];
    assert_eq!(storage.sessions(TEST_USER).await.unwrap(), all, "newest first");
    let (found, found_session) = storage.session(&TokenHash([1; 32])).await.unwrap().unwrap();
    assert_eq!((found.user_id, found_session), (TEST_USER, one.clone()));
    let end = |user_id, session: &Session| AccountChange::EndSession {
        user_id,
        session_id: session.id,
    };
    let by_other = apply(&*storage, end(other_user(), &one)).await;
    assert_eq!(by_other, Err(ChangeRejection::NotFound));
    assert_eq!(
        apply(&*storage, end(TEST_USER, &one)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(storage.session(&TokenHash([1; 32])).await.unwrap(), None);
    let except = Some(two.id);
    let user_id = TEST_USER;
    apply(&*storage, AccountChange::EndSessions { user_id, except })
        .await
        .unwrap();
    assert_eq!(storage.sessions(TEST_USER).await.unwrap(), [two]);
}

pub async fn signing_in_replaces_the_earlier_session(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (old, new) = (session(), session());
    let ended = Session {
        idle_ms: 0,
        ..session()
    };
    apply(&*storage, start(TEST_USER, &ended, 1)).await.unwrap();
    apply(&*storage, start(other_user(), &old, 2)).await.unwrap();
    let renewed = AccountChange::StartSession {
        user_id: TEST_USER,
        session: new.clone(),
        hash: TokenHash([3; 32]),
        replaces: Some(TokenHash([2; 32])),
    };
    apply(&*storage, renewed).await.unwrap();
    assert_eq!(storage.sessions(TEST_USER).await.unwrap(), [new]);
    assert_eq!(
        storage.sessions(other_user()).await.unwrap(),
        [],
        "the browser has changed its user"
    );
}

pub async fn an_invitation_is_used_up_once(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let later = Timestamp(NOON.0 + HOUR_MS);
    let invitation = LinkPurpose::Invitation(Role::Administrator);
    for (hash, expires_at) in [(1, later), (2, NOON)] {
        let link = link(invitation, expires_at);
        let hash = TokenHash([hash; 32]);
        apply(&*storage, AccountChange::AddLink { link, hash })
            .await
            .unwrap();
    }
    let accept = |name: &str, hash: u8| {
        create(
            UserId::new(),
            name,
            AccountWarrant::Invitation(TokenHash([hash; 32])),
        )
    };
    let taken = apply(&*storage, accept("ann", 1)).await;
    assert_eq!(taken, Err(ChangeRejection::NameTaken), "and keeps the invitation");
    assert_eq!(apply(&*storage, accept("cid", 1)).await, Ok(Outcome::Done));
    let (cid, _) = storage.account_by_name("cid").await.unwrap().unwrap();
    assert_eq!(cid.role, Role::Administrator);
    for hash in [1, 2, 3] {
        let refused = apply(&*storage, accept("eve", hash)).await;
        assert_eq!(
            refused,
            Err(ChangeRejection::NotFound),
            "{hash}: used, expired, unknown"
        );
    }
}

pub async fn a_new_password_ends_sessions_tokens_and_links(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let hash = TokenHash([1; 32]);
    let link = link(
        LinkPurpose::NewPassword(other_user()),
        Timestamp(NOON.0 + HOUR_MS),
    );
    apply(
        &*storage,
        AccountChange::AddLink {
            link: link.clone(),
            hash,
        },
    )
    .await
    .unwrap();
    assert_eq!(
        storage.account_links().await.unwrap(),
        std::slice::from_ref(&link)
    );
    assert_eq!(storage.account_link(&hash).await.unwrap(), Some(link));
    apply(&*storage, start(other_user(), &session(), 9))
        .await
        .unwrap();
    let token = Change::Personal {
        user_id: other_user(),
        change: PersonalChange::AddToken {
            token: ApiToken {
                id: TokenId::new(),
                name: "a".into(),
                beginning: "parlor_1".into(),
                created_at: NOON,
                last_used_at: None,
                expires_at: None,
            },
            hash: TokenHash([8; 32]),
            limit: 10,
        },
    };
    commit_one(&*storage, &token).await.unwrap();
    let set = |user_id| AccountChange::SetPassword {
        user_id,
        password: "new".into(),
        link: Some(hash),
        except: None,
    };
    let for_another = apply(&*storage, set(TEST_USER)).await;
    assert_eq!(for_another, Err(ChangeRejection::NotFound));
    assert_eq!(
        apply(&*storage, set(other_user())).await,
        Ok(Outcome::DataDeleted)
    );
    let again = apply(&*storage, set(other_user())).await;
    assert_eq!(again, Err(ChangeRejection::NotFound));
    let (_, password) = storage.account_by_name("ben").await.unwrap().unwrap();
    assert_eq!(password.as_deref(), Some("new"));
    assert_eq!(storage.sessions(other_user()).await.unwrap(), []);
    assert_eq!(storage.account_links().await.unwrap(), []);
    assert_eq!(storage.api_token(&TokenHash([8; 32])).await.unwrap(), None);
}

/// Returns a change by an administrator.
fn by(user_id: UserId, change: AccountChange) -> AccountChange {
    AccountChange::By {
        actor: Actor {
            user_id,
            address: "192.0.2.1".into(),
            signs_in_by: SignInWay::Password,
        },
        change: Box::new(change),
    }
}

pub async fn links_end_with_the_role_of_their_maker(backend: &dyn Backend) {
    let set_role = |role| AccountChange::SetRole {
        user_id: other_user(),
        role,
        keeps_administrator: true,
    };
    let disable = |is_disabled| AccountChange::SetDisabled {
        user_id: other_user(),
        is_disabled,
    };
    let delete = AccountChange::BeginDeletion {
        user_id: other_user(),
        heir: None,
    };
    for (end, again) in [
        (set_role(Role::Member), set_role(Role::Administrator)),
        (disable(true), disable(false)),
        (delete, disable(false)),
    ] {
        let (_folder, storage) = temp_storage(backend).await;
        make_accounts(&*storage).await;
        let apply = |change| apply(&*storage, change);
        apply(set_role(Role::Administrator)).await.unwrap();
        let later = Timestamp(NOON.0 + HOUR_MS);
        let invitation = LinkPurpose::Invitation(Role::Administrator);
        let add = |purpose, hash: u8| AccountChange::AddLink {
            link: link(purpose, later),
            hash: TokenHash([hash; 32]),
        };
        apply(by(other_user(), add(invitation, 1))).await.unwrap();
        apply(by(other_user(), add(LinkPurpose::NewPassword(TEST_USER), 2)))
            .await
            .unwrap();
        apply(by(TEST_USER, add(invitation, 3))).await.unwrap();
        apply(by(TEST_USER, end)).await.unwrap();
        // Of a request that was on its way.
        let late = apply(by(other_user(), add(invitation, 4))).await;
        assert_eq!(late, Err(ChangeRejection::NotFound));
        apply(by(TEST_USER, again)).await.unwrap();
        for (hash, is_valid) in [(1, false), (2, false), (3, true), (4, false)] {
            let found = storage.account_link(&TokenHash([hash; 32])).await.unwrap();
            assert_eq!(found.is_some(), is_valid, "{hash}");
        }
        let used = create(
            UserId::new(),
            "eve",
            AccountWarrant::Invitation(TokenHash([1; 32])),
        );
        assert_eq!(apply(used).await, Err(ChangeRejection::NotFound));
        // One that is made at the machine itself depends on nobody.
        apply(add(LinkPurpose::NewPassword(TEST_USER), 5)).await.unwrap();
        let found = storage.account_link(&TokenHash([5; 32])).await.unwrap();
        assert!(found.is_some());
    }
}

pub async fn deleting_a_user_leaves_the_others(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let theirs = new_turn(other_user(), ConversationId::new(), "Theirs");
    let own = new_turn(TEST_USER, ConversationId::new(), "Mine");
    for turn in [&theirs, &own] {
        commit_one(&*storage, &turn.change).await.unwrap();
    }
    let last = hand_over::delete_user(&*storage, TEST_USER, None).await;
    assert_eq!(last, Err(ChangeRejection::LastAdministrator));
    let deleted = hand_over::delete_user(&*storage, other_user(), None).await;
    assert_eq!(deleted, Ok(Outcome::DataDeleted));
    let of_deleted = storage.transcript(
        other_user(),
        theirs.run.conversation_id,
        PageSize::UNLIMITED,
        None,
    );
    assert_eq!(of_deleted.await.unwrap(), None);
    // The run has not noticed yet.
    let late = Change::Output {
        run: theirs.run,
        output: RunOutput::StoreMessage {
            message: AssistantMessage::new("x/m"),
        },
    };
    assert_eq!(commit_one(&*storage, &late).await, Err(ChangeRejection::NotFound));
    let of_other = storage.transcript(TEST_USER, own.run.conversation_id, PageSize::UNLIMITED, None);
    assert!(of_other.await.unwrap().is_some());
    let again = hand_over::delete_user(&*storage, other_user(), None).await;
    assert_eq!(again, Err(ChangeRejection::NotFound));
}

pub async fn a_disabled_account_has_no_sessions(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    apply(&*storage, start(other_user(), &session(), 1))
        .await
        .unwrap();
    let set = |user_id, is_disabled| AccountChange::SetDisabled { user_id, is_disabled };
    let last = apply(&*storage, set(TEST_USER, true)).await;
    assert_eq!(last, Err(ChangeRejection::LastAdministrator));
    apply(&*storage, set(other_user(), true)).await.unwrap();
    assert_eq!(storage.sessions(other_user()).await.unwrap(), []);
    let refused = apply(&*storage, start(other_user(), &session(), 2)).await;
    assert_eq!(refused, Err(ChangeRejection::NotFound));
    apply(&*storage, set(other_user(), false)).await.unwrap();
    let account = storage.account(other_user()).await.unwrap().unwrap();
    assert!(!account.is_disabled);
}

pub async fn an_identity_has_one_account(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let identity = |subject: &str| ProviderIdentity {
        issuer: "https://id.example".into(),
        subject: subject.into(),
    };
    let create = |user_id, name: &str, subject: &str, role| AccountChange::CreateProvided {
        user_id,
        name: name.into(),
        identity: identity(subject),
        role,
    };
    let (cid, dan) = (UserId::new(), UserId::new());
    let apply = |change| apply(&*storage, change);
    assert_eq!(
        apply(create(TEST_USER, "ann", "1", None)).await,
        Ok(Outcome::Done)
    );
    assert_eq!(apply(create(cid, "cid", "2", None)).await, Ok(Outcome::Done));
    let administrator = Some(Role::Administrator);
    assert_eq!(
        apply(create(dan, "dan", "3", administrator)).await,
        Ok(Outcome::Done)
    );
    for (name, subject) in [("ann", "4"), ("eve", "1")] {
        let taken = apply(create(UserId::new(), name, subject, None)).await;
        assert_eq!(taken, Err(ChangeRejection::NameTaken), "{name} {subject}");
    }
    let names = storage.accounts().await.unwrap();
    let names: Vec<_> = names
        .into_iter()
        .map(|account| (account.name, account.role))
        .collect();
    let expected = [
        ("ann", Role::Administrator),
        ("cid", Role::Member),
        ("dan", Role::Administrator),
    ];
    assert_eq!(names, expected.map(|(name, role)| (name.to_owned(), role)));
    let found = storage.account_by_identity(&identity("1")).await.unwrap();
    assert_eq!(found.unwrap().user_id, TEST_USER);
    assert_eq!(storage.account_by_identity(&identity("4")).await.unwrap(), None);
    let rename = |user_id, name: &str| AccountChange::Rename {
        user_id,
        name: name.into(),
    };
    assert_eq!(apply(rename(cid, "ann")).await, Err(ChangeRejection::NameTaken));
    assert_eq!(apply(rename(cid, "cora")).await, Ok(Outcome::DataDeleted));
    assert_eq!(storage.account(cid).await.unwrap().unwrap().name, "cora");
    let demote = |user_id, keeps_administrator| AccountChange::SetRole {
        user_id,
        role: Role::Member,
        keeps_administrator,
    };
    assert_eq!(apply(demote(dan, true)).await, Ok(Outcome::DataDeleted));
    assert_eq!(
        apply(demote(TEST_USER, true)).await,
        Err(ChangeRejection::LastAdministrator)
    );
    assert_eq!(apply(demote(TEST_USER, false)).await, Ok(Outcome::DataDeleted));
}
