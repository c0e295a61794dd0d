//! Parlor's benchmark: starts the release server and a scripted model server, opens many runs at once, reads
//! and checks every event, and prints the results. `docs/benchmarks.md` explains the figures.
//!
//! It ends by itself, uses loopback only, and ends the processes that it started. Its exit code is 1 only if
//! an event was lost, duplicated or reordered, or a run has no end: slowness is a figure, incorrectness is a
//! failure.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "its output is the figures"
)]

mod browser;
mod budgets;
mod client;
mod crash;
mod data_agent;
mod figures;
mod files;
mod first_token;
mod flood;
mod idle;
mod load;
mod log_reader;
mod machine;
mod nodes;
mod plans;
mod print;
mod print_loads;
mod reconnect;
mod server_process;
mod sizes;
mod slow_readers;
mod startup;
mod stored_conversations;
mod stream_check;
mod team;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use tokio::time::{sleep, timeout};

use crate::{
    client::Error,
    figures::{LoadResult, Report},
    load::LoadPlan,
    machine::Machine,
    plans::{load_plans, paced_plan, unpaced_plan},
    server_process::Binaries,
};

/// Measures Parlor's release build from outside.
#[derive(Debug, Parser)]
struct Options {
    /// A smoke check that takes seconds, with fewer runs and shorter answers.
    #[arg(long)]
    quick: bool,
    /// Measure only these.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Measurement>,
    /// Numbers of concurrent runs, one measurement each.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 20, 100, 500])]
    runs: Vec<usize>,
    /// Tokens per second of each run.
    #[arg(long, default_value_t = 50.0)]
    rate: f64,
    /// Duration of each run.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Number of stored conversations of 20 messages when some are opened.
    #[arg(long, default_value_t = 1000)]
    stored: usize,
    /// Users of `nodes`, who share the runs evenly [default: one for each run].
    #[arg(long)]
    users: Option<usize>,
    /// Duration of `steady`.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// The limit of each page of `largest`, in milliseconds. A slow machine, or a development build, needs more.
    #[arg(long, default_value_t = 3000)]
    largest_ms: u64,
    /// The server [default: dist/parlor, or the one next to this program].
    #[arg(long)]
    parlor: Option<PathBuf>,
    /// The scripted model server [default: the one next to this program].
    #[arg(long)]
    upstream: Option<PathBuf>,
    /// Also write the figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Time limit in seconds, without that of `steady`.
    #[arg(long, default_value_t = 600)]
    limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measurement {
    /// The files of the first page.
    Sizes,
    /// Concurrent runs at a steady pace.
    Load,
    /// 100 new conversations in the same moment.
    Burst,
    /// 100 streams as fast as the model server gives.
    Flat,
    /// 200 runs for many minutes (--minutes); only if it is asked for.
    Steady,
    /// 1,000 idle streams.
    Idle,
    /// The first token through each adapter.
    FirstToken,
    /// A large file up and down.
    Files,
    /// Databases, and sessions of Python. Needs the Python of the tests.
    DataAgent,
    /// Readers that read a byte per second.
    Slow,
    /// One user who floods the server while another one uses it.
    Flood,
    /// 50 signed-in users with 4 runs each, and one user with as many runs.
    Team,
    /// The same runs on one node with SQLite, one with Postgres, and three; only if it is asked for. Needs Postgres.
    Nodes,
    /// A client that reconnects again and again.
    Reconnect,
    /// The server is killed while it streams.
    Kill,
    /// Startup with stored conversations.
    Startup,
    /// Opening conversations when there are many, and a long one.
    Stored,
    /// The user's view, in Chromium.
    Browser,
    /// The page of an answer of the maximum length, in Chromium.
    Largest,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    raise_socket_limit();
    let steady = if options.is_selected(Measurement::Steady) {
        options.minutes * 60.0
    } else {
        0.0
    };
    let limit = Duration::from_secs(options.limit) + Duration::from_secs_f64(steady);
    let measured = tokio::select! {
        measured = timeout(limit, measure(&options)) => {
            measured.unwrap_or_else(|_| Err(format!("not done after {} s", limit.as_secs()).into()))
        }
        () = shutdown_signal() => Err("interrupted".into()),
    };
    match measured {
        Ok(report) if report.has_failed() => {
            eprintln!(
                "Events were lost, duplicated or reordered, a run has no end, or something was not measured: see above."
            );
            ExitCode::FAILURE
        }
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("parlor-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Raises the limit of open sockets. Each run and each stream needs one, and many systems limit a process to
/// 1,024 by default.
fn raise_socket_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // The existing limit may be enough.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Resolves at Ctrl-C or SIGTERM: the started processes must not outlive this one.
async fn shutdown_signal() {
    #[cfg(unix)]
    if let Ok(mut terminated) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminated.recv() => return,
            _ = tokio::signal::ctrl_c() => return,
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

async fn measure(options: &Options) -> Result<Report, Error> {
    let folder = tempfile::Builder::new().prefix("parlor-bench-").tempdir()?;
    let programs = find_programs(options, folder.path())?;
    let binary_mb = fs::metadata(&programs.parlor)?.len() as f64 / 1e6;
    let mut report = Report {
        machine: Machine::detect(),
        binary_mb,
        idle_mb: None,
        sizes: Vec::new(),
        load: Vec::new(),
        idle: None,
        slow: None,
        flood: None,
        reconnect: None,
        killed: None,
        startup: None,
        stored: None,
        browser: None,
        largest: None,
        first_token: None,
        files: None,
        data_agent: None,
        nodes: Vec::new(),
        has_missing: false,
    };
    print::print_machine(&report);
    let upstream = programs.upstream().await?;
    let parlor = programs.start_parlor("usual", &upstream).await?;
    sleep(Duration::from_secs(1)).await;
    let idle_mb = machine::resident_mb(parlor.pid());
    report.idle_mb = Some(idle_mb);
    println!("Resident memory of an empty server, 1 s after its start: {idle_mb:.1} MB\n");

    if options.is_selected(Measurement::Sizes) {
        report.sizes = sizes::measure(&parlor.client()).await?;
        print::print_sizes(&report.sizes);
    }
    for (title, plans) in load_plans(options) {
        let mut loads = Vec::<LoadResult>::new();
        for plan in plans {
            loads.push(load::measure_beside_bare(&plan, &parlor, &upstream).await);
        }
        print_loads::print_loads(title, &loads.iter().collect::<Vec<_>>());
        report.load.extend(loads);
    }
    let in_browser = [
        (Measurement::Browser, "usual", &mut report.browser),
        (Measurement::Largest, "largest", &mut report.largest),
    ];
    for (measurement, part, result) in in_browser {
        if !options.is_selected(measurement) {
            continue;
        }
        match browser::measure(&parlor, &upstream, part, options.quick, options.largest_ms).await {
            Ok(measured) => print::print_browser(result.insert(measured)),
            Err(reason) => {
                println!("In Chromium: not measured: {reason}\n");
                // Without Chromium the rest is measured; a part that was chosen has to be.
                report.has_missing |= !options.only.is_empty();
            }
        }
    }
    if report.has_failed() {
        eprintln!("The end of the server's log:\n{}", parlor.log_tail());
    }
    parlor.stop().await?;

    if options.is_selected(Measurement::Idle) {
        let streams = if options.quick { 100 } else { 1000 };
        let idle = idle::measure(&programs, &upstream, streams).await?;
        print::print_idle(report.idle.insert(idle));
    }
    if options.is_selected(Measurement::FirstToken) {
        let runs = if options.quick { 5 } else { 100 };
        let first_token = first_token::measure(&programs, &upstream, runs).await?;
        print::print_first_token(report.first_token.insert(first_token));
    }
    if options.is_selected(Measurement::Files) {
        let files = files::measure(&programs, &upstream, if options.quick { 20 } else { 200 }).await?;
        print::print_files(report.files.insert(files));
    }
    if options.is_selected(Measurement::DataAgent) {
        match data_agent::find_python() {
            Some(python) => {
                let size = data_agent::Size {
                    table_rows: if options.quick { 100_000 } else { 10_000_000 },
                    result_rows: if options.quick { 10_000 } else { 1_000_000 },
                    sessions: if options.quick { 3 } else { 20 },
                };
                let data = data_agent::measure(&programs, &upstream, &python, size).await?;
                print::print_data_agent(report.data_agent.insert(data));
            }
            None => {
                println!("Databases and Python: not measured: `make test-rust` makes the Python for it\n");
                report.has_missing |= !options.only.is_empty();
            }
        }
    }
    if options.is_selected(Measurement::Slow) {
        let readers = if options.quick { 5 } else { 20 };
        let history = unpaced_plan(options.quick);
        let slow =
            slow_readers::measure(&programs, &upstream, readers, &history, &paced_plan(options, 20)).await?;
        print::print_slow_readers(report.slow.insert(slow));
    }
    if options.is_selected(Measurement::Flood) {
        let (runs, answers) = if options.quick { (20, 5) } else { (100, 40) };
        let flood = flood::measure(&programs, &upstream, runs, 3000, answers).await?;
        print::print_flood(report.flood.insert(flood));
    }
    if options.is_selected(Measurement::Team) {
        let (users, runs) = if options.quick { (5, 10) } else { (50, 200) };
        let team = team::measure(&programs, &upstream, users, &paced_plan(options, runs)).await?;
        print_loads::print_loads(
            "Users who are signed in (times in ms)",
            &team.iter().collect::<Vec<_>>(),
        );
        report.load.extend(team);
    }
    if options.is_selected(Measurement::Nodes) {
        let runs = options.runs.iter().filter(|runs| !options.quick || **runs <= 20);
        let plan = |runs: &usize| LoadPlan {
            users: Some(options.users.unwrap_or(*runs)),
            ..paced_plan(options, *runs)
        };
        let plans: Vec<_> = runs.map(plan).collect();
        report.nodes = nodes::measure(&programs, &upstream, &plans).await?;
        print_loads::print_nodes(&report.nodes);
    }
    if options.is_selected(Measurement::Reconnect) {
        let runs = if options.quick { 20 } else { 100 };
        let reconnect = reconnect::measure(&programs, &upstream, &paced_plan(options, runs)).await?;
        print::print_reconnect(report.reconnect.insert(reconnect));
    }
    if options.is_selected(Measurement::Kill) {
        let most = options.runs.iter().copied().max().unwrap_or(1);
        let runs = if options.quick { most.min(20) } else { most };
        let killed = crash::measure(&programs, &upstream, runs).await?;
        print::print_crash(report.killed.insert(killed));
    }
    if options.is_selected(Measurement::Startup) {
        let (conversations, starts) = if options.quick { (50, 3) } else { (1000, 9) };
        let startup = startup::measure(&programs, &upstream, conversations, starts).await?;
        print::print_startup(report.startup.insert(startup));
    }
    if options.is_selected(Measurement::Stored) {
        let (conversations, long_turns) = if options.quick {
            (20, 50)
        } else {
            (options.stored, 1000)
        };
        let stored = stored_conversations::measure(&programs, &upstream, conversations, long_turns).await?;
        print::print_stored(report.stored.insert(stored));
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(report)
}

impl Options {
    fn is_selected(&self, part: Measurement) -> bool {
        let is_usual = !matches!(part, Measurement::Steady | Measurement::Nodes);
        (self.only.is_empty() && is_usual) || self.only.contains(&part)
    }
}

fn find_programs(options: &Options, folder: &Path) -> Result<Binaries, Error> {
    let own_path = std::env::current_exe()?;
    let sibling = |name: &str| {
        own_path
            .with_file_name(name)
            .with_extension(std::env::consts::EXE_EXTENSION)
    };
    let packed = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../dist")
        .join("parlor");
    let parlor = options.parlor.clone().unwrap_or(if packed.exists() {
        packed
    } else {
        sibling("parlor")
    });
    let upstream = options.upstream.clone().unwrap_or(sibling("upstream"));
    for (program, how) in [
        (&parlor, "make release"),
        (&upstream, "cargo build --release --package upstream"),
    ] {
        if !program.exists() {
            return Err(format!("{} is missing: {how} builds it", program.display()).into());
        }
    }
    let (parlor, upstream) = (fs::canonicalize(parlor)?, fs::canonicalize(upstream)?);
    Ok(Binaries {
        parlor,
        start_upstream: upstream,
        folder: folder.to_owned(),
    })
}
