//! `make fuzz`: runs every randomised test repeatedly with new seeds, for a given time.
//!
//! Randomised tests are those in a module `properties` (see `tests/fuzzing`). A failing case is stored in
//! `proptest-regressions/`, and `make test` tries it first from then on.

use crate::{
    print_step,
    test::{
        WORKSPACE_ARGS,
        programs::{self, TestArgs, TestProgram},
    },
};
use anyhow::{Context, Result, bail};
use std::{
    collections::hash_map::RandomState,
    env,
    fs::{self, OpenOptions},
    hash::BuildHasher,
    io::Write,
    path::PathBuf,
    process::{Command, Output, exit},
    time::{Duration, Instant},
};

/// The time for all tests together unless `PARLOR_FUZZ_SECONDS` is set.
const DEFAULT_SECONDS: u64 = 20 * 60;

/// The cases of a test's first round. While rounds are shorter than `SHORT_ROUND`, the next one has twice as
/// many.
const INITIAL_CASES: u32 = 256;
const SHORT_ROUND: Duration = Duration::from_secs(3);

/// The name of the module with randomised tests.
const PROPERTIES_MODULE: &str = "properties";

/// The folder of stored cases.
const REGRESSIONS_FOLDER: &str = "proptest-regressions";

/// A randomised test.
struct Property {
    program: PathBuf,
    /// The package's folder, in which cargo would start the program.
    folder: PathBuf,
    name: String,
}

/// Runs the tests whose names contain one of the arguments (all without any). Returns an error if one failed.
pub fn run(args: &[String]) -> Result<()> {
    let seconds = match env::var("PARLOR_FUZZ_SECONDS") {
        Ok(seconds) => seconds
            .parse()
            .context("PARLOR_FUZZ_SECONDS is not a number of seconds")?,
        Err(_) => DEFAULT_SECONDS,
    };
    print_step("building the tests");
    let mut properties = Vec::new();
    for program in programs::build(&WORKSPACE_ARGS, &TestArgs::default())? {
        properties.extend(list_properties(&program)?);
    }
    let is_wanted = |name: &str| args.is_empty() || args.iter().any(|arg| name.contains(arg.as_str()));
    properties.retain(|property| is_wanted(&property.name));
    if properties.is_empty() {
        bail!("no randomised test has such a name");
    }
    let share = Duration::from_secs(seconds) / u32::try_from(properties.len())?;
    let all = properties.len();
    println!(
        "{all} randomised tests, {} seconds each",
        share.as_secs_f32().ceil()
    );
    let mut failed = Vec::new();
    for property in &properties {
        if !property.repeat(share)? {
            failed.push(&*property.name);
        }
    }
    println!("{} passed, {} failed", all - failed.len(), failed.len());
    for name in &failed {
        println!("  {name}");
    }
    exit(i32::from(!failed.is_empty()))
}

fn list_properties(program: &TestProgram) -> Result<Vec<Property>> {
    let listed = program
        .command()
        .args(["--list", "--format", "terse"])
        .output()
        .with_context(|| format!("starting {}", program.executable.display()))?;
    let names = String::from_utf8_lossy(&listed.stdout);
    let names = names.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names
        .filter(|name| name.rsplit("::").nth(1) == Some(PROPERTIES_MODULE))
        .map(|name| Property {
            program: program.executable.clone(),
            folder: program.folder.clone(),
            name: name.into(),
        })
        .collect())
}

impl Property {
    /// Runs it with one seed after another until the time is up or it fails. Prints each result.
    fn repeat(&self, share: Duration) -> Result<bool> {
        let start = Instant::now();
        let (mut cases, mut all, mut rounds) = (INITIAL_CASES, 0_u64, 0);
        loop {
            let seed = RandomState::new().hash_one(rounds);
            let round = Instant::now();
            let output = self.run_once(seed, cases)?;
            if !output.status.success() {
                self.record_failure(seed, cases, &output)?;
                return Ok(false);
            }
            rounds += 1;
            all += u64::from(cases);
            if round.elapsed() < SHORT_ROUND {
                cases = cases.saturating_mul(2);
            }
            if start.elapsed() + round.elapsed() >= share {
                println!(
                    "ok      {} ({rounds} seeds, {all} cases; the last seed {seed})",
                    self.name
                );
                return Ok(true);
            }
        }
    }

    fn run_once(&self, seed: u64, cases: u32) -> Result<Output> {
        Command::new(&self.program)
            .args([&*self.name, "--exact", "--nocapture"])
            .current_dir(&self.folder)
            .env("PARLOR_FUZZ_SEED", seed.to_string())
            .env("PARLOR_FUZZ_CASES", cases.to_string())
            .output()
            .with_context(|| format!("starting {}", self.program.display()))
    }

    /// Prints the failure, and stores the seed of a test that does not store its cases itself.
    fn record_failure(&self, seed: u64, cases: u32, output: &Output) -> Result<()> {
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        println!("FAILED  {}\n{said}", self.name);
        println!(
            "Again: PARLOR_FUZZ_SEED={seed} PARLOR_FUZZ_CASES={cases} {} --exact {}",
            self.program.display(),
            self.name
        );
        if !said.contains("minimal failing input") {
            let folder = self.folder.join(REGRESSIONS_FOLDER).join("seeds");
            fs::create_dir_all(&folder)?;
            let file = folder.join(format!("{}.txt", self.name.replace("::", ".")));
            let mut kept = OpenOptions::new().append(true).create(true).open(&file)?;
            writeln!(kept, "{seed}")?;
            println!("The seed is stored in {}.", file.display());
        }
        println!(
            "`make test` tries the case first from now on ({REGRESSIONS_FOLDER}/). Write its minimal input as a test with a name of its own."
        );
        Ok(())
    }
}
