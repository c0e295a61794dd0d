//! Many signed-in users, beside one user with as many runs.

use crate::{
    client::Error,
    figures::LoadResult,
    load::{self, LoadPlan},
    server_process::{Binaries, PROXY_SETTINGS, ServerProcess},
};

/// Executes the plan for one user, then for `users` who share its runs evenly.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    users: usize,
    plan: &LoadPlan,
) -> Result<[LoadResult; 2], Error> {
    let parlor = programs
        .start_parlor_with_text("team", upstream, PROXY_SETTINGS)
        .await?;
    let plan_of = |users| LoadPlan {
        name: format!("{users} × {} × {}/s", plan.runs / users, plan.per_second),
        users: Some(users),
        ..plan.clone()
    };
    // Their accounts are made by their first request, which is not measured.
    for user in 0..users {
        let client = parlor.client().with_user(&format!("user-{user}"));
        load::run(client, 1, 0.0, false).await;
    }
    let one = load::measure(&plan_of(1), &parlor, upstream).await;
    let many = load::measure(&plan_of(users), &parlor, upstream).await;
    parlor.stop().await?;
    Ok([one, many])
}
