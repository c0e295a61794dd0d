//! Accounts over a database, without HTTP.

use super::{oidc::ProvidedUser, *};
use captured_log::CapturedLog;
use parlor_journal::hub::Hub;
use parlor_storage::{accounts::ProviderIdentity, audit::SignInWay, sqlite::SqliteStorage};

const PASSWORD: &str = "a long password";
/// A name that looks like `capa`: all letters are Cyrillic.
const LOOKALIKE: &str = "\u{441}\u{430}\u{440}\u{430}";

/// Returns the administrator.
async fn admin(accounts: &Accounts) -> Actor {
    let account = accounts.account_by_name("root").await.unwrap();
    Actor {
        user_id: account.unwrap().user_id,
        address: "192.0.2.1".into(),
        signs_in_by: SignInWay::Password,
    }
}

const FROM: ClientAddress = ClientAddress(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

/// Returns accounts with open sign-up and an administrator.
async fn accounts(attempts: usize) -> (tempfile::TempDir, Accounts) {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let (journal, _) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let settings = AccountSettings {
        auth: AuthMode::Password,
        sign_up: SignUp::Open,
        sign_in_attempts: attempts,
        ..AccountSettings::default()
    };
    let monitor = Arc::new(AccessMonitor::new(storage.clone(), settings.auth));
    let accounts = Accounts::new(settings, storage, journal, monitor);
    let token = accounts.new_setup_token().await.unwrap().unwrap();
    let made = accounts.set_up(&token, ("root", PASSWORD), false, FROM).await;
    made.unwrap();
    (folder, accounts)
}

#[tokio::test]
async fn disabled_account_keeps_its_password_link() {
    let (_folder, accounts) = accounts(100).await;
    let user_id = accounts.sign_up("ann", PASSWORD, FROM).await.unwrap();
    let admin = admin(&accounts).await;
    let link = accounts.new_password_link(&admin, user_id).await.unwrap();
    let (_, secret) = link.rsplit_once('/').unwrap();
    accounts.set_disabled(&admin, user_id, true).await.unwrap();
    let rejected = accounts.reset_password(secret, "another password").await;
    assert_eq!(rejected.unwrap_err().code, ErrorCode::NotFound);
    accounts.set_disabled(&admin, user_id, false).await.unwrap();
    assert!(accounts.check_password("ann", PASSWORD, FROM).await.is_ok());
    let set = accounts.reset_password(secret, "another password").await;
    assert_eq!(set.unwrap(), user_id);
}

#[tokio::test]
async fn sign_ups_do_not_delay_sign_ins() {
    let (_folder, accounts) = accounts(2).await;
    let mut is_limited = false;
    // The first waits may end before the next attempt.
    for number in 0..20 {
        match accounts.sign_up(&format!("user{number}"), PASSWORD, FROM).await {
            Ok(_) => {}
            Err(AttemptError::Wait(_)) => {
                is_limited = true;
                break;
            }
            Err(AttemptError::Refused(error)) => panic!("{error:?}"),
        }
    }
    assert!(is_limited);
    assert!(accounts.check_password("user0", PASSWORD, FROM).await.is_ok());
}

#[tokio::test]
async fn proxied_users_enter_with_any_name() {
    let (_folder, accounts) = accounts(100).await;
    accounts.sign_up("capa", PASSWORD, FROM).await.unwrap();
    let refused = accounts.sign_up(LOOKALIKE, PASSWORD, FROM).await;
    assert!(matches!(refused, Err(AttemptError::Refused(_))), "{refused:?}");
    let (log, _listening) = CapturedLog::capture();
    for name in [LOOKALIKE, "\u{430}nn"] {
        let account = accounts.proxied_account(name).await.unwrap();
        assert_eq!(account.name, name);
        let again = accounts.proxied_account(name).await.unwrap();
        assert_eq!(again.user_id, account.user_id);
    }
    let warnings = log.count("the proxy names a user who could be read as another");
    assert_eq!(warnings, 2);
}

#[tokio::test]
async fn provided_users_with_lookalike_names_get_numbers() {
    let (_folder, accounts) = accounts(100).await;
    accounts.sign_up("capa", PASSWORD, FROM).await.unwrap();
    let numbered = format!("{LOOKALIKE}-2");
    let sign_in = async |subject: &str, name: &str| {
        let identity = ProviderIdentity {
            issuer: "https://id.example".into(),
            subject: subject.into(),
        };
        let user = ProvidedUser {
            subject: subject.into(),
            name: name.into(),
            role: None,
        };
        let account = accounts.provided_account(&identity, &user).await;
        account.unwrap().name
    };
    assert_eq!(sign_in("1", LOOKALIKE).await, numbered, "a new account");
    assert_eq!(sign_in("2", "ben").await, "ben");
    assert_eq!(
        sign_in("2", LOOKALIKE).await,
        format!("{LOOKALIKE}-3"),
        "a new name"
    );
    assert_eq!(sign_in("1", LOOKALIKE).await, numbered, "it stays");
}
