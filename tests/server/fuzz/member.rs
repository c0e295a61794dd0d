//! The fuzzer signed in as a member, with the real ids of another user, an administrator: nothing of theirs comes out, and
//! nothing of it is changed.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::json;
use tokio::time::timeout;
use tracing::Level;

use super::{
    MAX_FAILURES,
    captures::{LogCapture, PanicCapture},
    mutations::MutatedRequest,
    start_parlor_with,
    targets::{Ids, Target, all_targets},
};
use crate::{
    accounts::{Browser, with_passwords},
    support::TEST_TIMEOUT,
};

/// The number of requests; `make fuzz` has more.
const DEFAULT_CASES: u32 = 2000;

/// The number of requests between new ids of the member's own. Many requests delete what their ids refer to.
const CASES_PER_CONVERSATION: u32 = 200;

/// A text that only the other user has.
const SECRET: &str = "remarkable-7f3a";

/// Returns the routes of administrators, with the other user as their subject.
fn administrators_targets(user: &str) -> Vec<Target> {
    let form = json!({ "user": user, "heir": user, "role": "administrator", "link": "$new", "sure": "yes" });
    let paths = [
        "invitations/invite",
        "invitations/withdraw",
        "users/password",
        "users/role",
        "users/disable",
        "users/enable",
        "users/delete",
    ];
    let forms = paths.map(|path| Target {
        method: "POST".into(),
        path: format!("/settings/{path}"),
        arguments: Some(form.clone()),
        is_form: true,
    });
    let pages = [
        "/settings/users",
        "/settings/invitations",
        "/settings/usage/all",
        "/settings/audit",
    ]
    .map(|path| Target {
        method: "GET".into(),
        path: path.into(),
        arguments: Some(json!({ "user": user, "before": 5 })),
        is_form: false,
    });
    forms.into_iter().chain(pages).collect()
}

async fn send_as_member(seed: u64, cases: u32) {
    let mut random = Rng::with_seed(seed);
    let (_folder, _upstream, mut parlor) = start_parlor_with(|settings| {
        with_passwords(settings);
        settings.accounts.requests_per_minute = 1_000_000_000;
    })
    .await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    let (owner, member) = (ann.signed_in_client(), ben.signed_in_client());
    parlor.client = owner.clone();
    let theirs = Ids::create(&parlor).await;
    parlor.turn(Some(&theirs.conversation), SECRET).await;
    let before = parlor.transcript(&theirs.conversation).await;
    let administrator = ann.administrator_id("ben").await;
    let users = ann.page("/settings/users").await;

    let (log, panics) = (LogCapture::start(Level::ERROR), PanicCapture::start());
    let mut targets = all_targets();
    targets.extend(administrators_targets(&administrator));
    let mut own = Ids::default();
    let mut failures = Vec::new();
    let mut statuses = BTreeMap::<u16, u32>::new();
    parlor.client = member;
    for case in 0..cases {
        if case % CASES_PER_CONVERSATION == 0 {
            own = Ids::create(&parlor).await;
        }
        let target = &targets[random.usize(..targets.len())];
        let ids = if random.u8(..4) == 0 { &own } else { &theirs };
        let mutant = MutatedRequest::mutate(target, ids, &mut random);
        let outcome = match timeout(TEST_TIMEOUT, mutant.fetch(&parlor)).await {
            Ok(Ok((status, body))) => {
                *statuses.entry(status).or_default() += 1;
                let leaks = String::from_utf8_lossy(&body).contains(SECRET);
                (status >= 500 || leaks).then(|| format!("{status}, leaks: {leaks}"))
            }
            Ok(Err(error)) => (!mutant.may_fail_with(&error)).then(|| format!("{error:?}")),
            Err(_) => Some("no answer".into()),
        };
        failures.extend(outcome.map(|outcome| format!("case {case}: {outcome}\n{mutant}")));
        if failures.len() >= MAX_FAILURES || panics.has_panicked() {
            break;
        }
    }
    println!("statuses: {statuses:?}");
    assert!(
        failures.is_empty(),
        "seed {seed}\n{}\nlog: {}",
        failures.join("\n"),
        log.text()
    );
    assert_eq!(panics.text(), "", "seed {seed}");
    assert_eq!(log.text(), "", "seed {seed}");
    let succeeded = statuses.get(&200).copied().unwrap_or_default();
    assert!(succeeded * 40 > cases, "most are damaged too much: {statuses:?}");
    parlor.client = owner;
    assert_eq!(
        parlor.transcript(&theirs.conversation).await,
        before,
        "seed {seed}"
    );
    let file = parlor.get(&format!("/api/files/{}", theirs.get("file_id")));
    assert_eq!(
        file.send().await.unwrap().status(),
        200,
        "their file is still there"
    );
    assert_eq!(
        ann.page("/settings/users").await,
        users,
        "seed {seed}: no account was changed"
    );
    parlor.wait_for_listeners(0).await;
}

/// The module in which `make fuzz` finds randomised tests.
mod properties {
    #[tokio::test]
    async fn a_member_gets_nothing_of_another_user() {
        for seed in fuzzing::test_seeds!() {
            super::send_as_member(seed, fuzzing::cases(super::DEFAULT_CASES)).await;
        }
    }
}
