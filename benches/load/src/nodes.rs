//! One node on SQLite, one and three on Postgres: what the same runs need. Needs Postgres on this machine.

use std::{fs, os::unix::fs::PermissionsExt};

use serde::Serialize;
use test_postgres::PostgresServer;

use crate::{
    client::Error,
    figures::LoadResult,
    load::{self, LoadPlan},
    machine,
    server_process::{Binaries, PROXY_SETTINGS, ServerProcess},
};

/// The databases of Postgres: of one node, and of three.
const DATABASES: [(&str, usize); 2] = [("one", 1), ("three", 3)];

/// The key of all nodes, and its file.
const SECRET_KEY: &str = "5fcd1d2c1f9d48dc8e3b1d0c1de3ac1e3fcd1d2c1f9d48dc8e3b1d0c1de3ac1e";
const KEY_FILE: &str = "nodes.key";

/// A row: the runs of a plan on some nodes.
#[derive(Clone, Debug, Serialize)]
pub struct NodesResult {
    pub database: &'static str,
    pub nodes: usize,
    pub load: LoadResult,
    /// CPU seconds of Postgres per 10,000 tokens; `None` with SQLite, which is part of the node.
    pub database_cpu_per_10k: Option<f64>,
    /// Memory of Postgres after the runs, in megabytes.
    pub database_mb: Option<f64>,
}

/// Executes each plan on each arrangement.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    plans: &[LoadPlan],
) -> Result<Vec<NodesResult>, Error> {
    let key_file = programs.folder.join(KEY_FILE);
    fs::write(&key_file, SECRET_KEY)?;
    fs::set_permissions(&key_file, fs::Permissions::from_mode(0o600))?;
    let key_setting = format!("[server]\nsecret_key_file = \"{}\"\n", key_file.display());
    let usual = PROXY_SETTINGS.replace("[server]\n", &key_setting);
    let users = plans.iter().filter_map(|plan| plan.users).max().unwrap_or(1);
    let postgres = PostgresServer::start_durable(&DATABASES.map(|(name, _)| name)).await;
    let mut results = Vec::new();
    let alone = [start(programs, upstream, "sqlite", &usual, users).await?];
    measure_plans(plans, upstream, ("SQLite", &alone, None), &mut results).await;
    stop(alone.into()).await?;
    for (database, count) in DATABASES {
        let settings = format!(
            "{usual}[database]\nurl = \"{}\"\n[nodes]\nenabled = {}\n[files]\nstore = \"database\"\n",
            postgres.url_of(database),
            count > 1
        );
        let mut nodes = Vec::new();
        for number in 1..=count {
            let data = format!("{database}-{number}");
            nodes.push(start(programs, upstream, &data, &settings, users).await?);
        }
        let arrangement = ("Postgres", &*nodes, Some(postgres.id()));
        measure_plans(plans, upstream, arrangement, &mut results).await;
        stop(nodes).await?;
    }
    Ok(results)
}

async fn start(
    programs: &Binaries,
    upstream: &ServerProcess,
    data: &str,
    settings: &str,
    users: usize,
) -> Result<ServerProcess, Error> {
    let node = programs.start_parlor_with_text(data, upstream, settings).await?;
    // Their accounts are made by their first request, which is not measured.
    for user in 0..users {
        let client = node.client().with_user(&format!("user-{user}"));
        load::run(client, 1, 0.0, false).await;
    }
    Ok(node)
}

async fn stop(nodes: Vec<ServerProcess>) -> Result<(), Error> {
    for node in nodes {
        node.stop().await?;
    }
    Ok(())
}

async fn measure_plans(
    plans: &[LoadPlan],
    upstream: &ServerProcess,
    (database, nodes, postgres): (&'static str, &[ServerProcess], Option<u32>),
    results: &mut Vec<NodesResult>,
) {
    for plan in plans {
        let before = postgres.map(machine::tree_cpu_seconds);
        let load = load::measure_on(plan, nodes, upstream).await;
        let after = postgres.map(machine::tree_cpu_seconds);
        let used = after.zip(before).map(|(after, before)| after - before);
        results.push(NodesResult {
            database,
            nodes: nodes.len(),
            database_cpu_per_10k: used.map(|seconds| load::per_10k(seconds, load.tokens)),
            database_mb: postgres.map(machine::descendants_mb),
            load,
        });
    }
}
