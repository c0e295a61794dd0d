//! `make test`: runs all tests, prints where the time went, and their number on the last line.
//!
//! `programs` are the Rust tests, `lanes` runs two of them at a time, `playwright` the end-to-end tests; `second_run` finds flaky ones.

mod cpu;
mod lanes;
mod playwright;
pub mod programs;
mod second_run;

use std::{
    env, fmt, fs, io,
    ops::AddAssign,
    process::exit,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{Profile, build_both, cargo, print_step, wasm};
use lanes::{Ended, Job};
use programs::{ProgramResult, TestArgs, TestProgram};

/// Everything except this helper. Built together with it, many libraries would get other features than in the
/// server's own build, and would be compiled a second time.
pub const WORKSPACE_ARGS: [&str; 3] = ["--workspace", "--exclude", "xtask"];
const XTASK_ARGS: [&str; 2] = ["--package", "xtask"];

/// The name of the end-to-end tests beside the test programs' names.
const END_TO_END: &str = "end to end";

/// The name of the tests of the server that are run again on Postgres.
const SERVER_ON_POSTGRES: &str = "server, on Postgres";

/// The program that runs beside no other: its tests kill servers, fill disks and count memory.
const ALONE: &str = "process";

/// The program that takes longest, with which the others begin.
const LONGEST: &str = "server";

/// A failed test.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of its [`TestProgram`], or [`END_TO_END`].
    program: String,
    test: String,
    output: String,
}

/// Runs the tests named by the first argument (`rust`, `e2e`; both without one) and passes the others on.
/// Prints the counts as the last line. Returns an error if any test failed.
pub fn run(args: &[String]) -> Result<()> {
    let (rust, e2e, rest) = match args.first().map(String::as_str) {
        Some("rust") => (true, false, &args[1..]),
        Some("e2e") => (false, true, &args[1..]),
        _ => (true, true, args),
    };
    let mut all = TestRun::default();
    let mut programs = Vec::new();
    let args = TestArgs::parse(rest);
    all.step("building", || {
        match (rust, e2e) {
            (true, false) => programs = build_rust_tests(&args)?,
            (true, true) => build_both(|| {
                programs = build_rust_tests(&args)?;
                build_binaries()
            })?,
            _ => build_both(build_binaries)?,
        }
        if e2e {
            build_elements_page()?;
        }
        Ok(ProgramResult::default())
    });
    let is_built = all.counts.failed == 0;
    let (alone, mut beside): (Vec<_>, Vec<_>) = programs.iter().partition(|program| program.name == ALONE);
    beside.sort_by_key(|program| program.name != LONGEST);
    match beside[..] {
        [] => {}
        [only] => {
            all.step(&only.name, || only.run(&args));
            if only.name == LONGEST && args.select_all_tests() {
                let run = || only.run_on_postgres(SERVER_ON_POSTGRES, &mut io::stdout());
                all.step(SERVER_ON_POSTGRES, run);
            }
        }
        _ => all.run_in_lanes(&beside, &args),
    }
    for program in alone {
        all.step(&program.name, || program.run(&args));
    }
    // With the files of an earlier build, they would say nothing of this one.
    if e2e && is_built {
        all.step(END_TO_END, || playwright::run(rest));
    }
    let mut flaky = 0;
    if env::var_os("CI").is_some_and(|value| !value.is_empty()) && !all.failures.is_empty() {
        let clock = StepClock::start();
        flaky = second_run::run(&all.failures, &programs, &mut all.counts)?;
        all.times.push(clock.stop("second run of failed tests", 0));
    }
    all.print_times();
    if flaky > 0 {
        println!("{flaky} flaky");
    }
    println!("{}", all.counts);
    exit(i32::from(all.counts.failed > 0))
}

fn build_rust_tests(args: &TestArgs) -> Result<Vec<TestProgram>> {
    let mut all = programs::build(&WORKSPACE_ARGS, args)?;
    // The build helper has none of the test programs that `--test` names.
    if !args.select_programs() {
        all.extend(programs::build(&XTASK_ARGS, args)?);
    }
    Ok(all)
}

/// Builds the programs that end-to-end tests start. Together with a test they get the features of the Rust tests, which
/// have built them already. (`make lint` checks that the released binary has no failpoints.)
fn build_binaries() -> Result<()> {
    let mut command = cargo::cargo_command("build");
    cargo::run_checked(command.args(WORKSPACE_ARGS).args(["--bins", "--test", "process"]))
}

/// Builds the page that tests `elements`. After the site, whose libraries it shares.
fn build_elements_page() -> Result<()> {
    print_step("building the test page of elements (WASM)");
    let wasm = cargo::build_wasm(Profile::Dev, "elements-page")?;
    wasm::pack_test_page(
        "elements-page",
        &fs::read(wasm)?,
        &cargo::target_folder().join("elements-page"),
    )
}

/// The results of the steps so far.
#[derive(Default)]
struct TestRun {
    counts: Counts,
    failures: Vec<Failure>,
    times: Vec<StepTime>,
}

/// The time of one test program, or of a build.
struct StepTime {
    name: String,
    time: Duration,
    /// True for a program that ran beside others, whose step comes before it.
    is_part: bool,
    /// The CPU time of its programs, where the system tells it.
    cpu: Option<Duration>,
    tests: u32,
}

impl TestRun {
    /// Runs a step. One that cannot even start counts as one failure and does not hide the others' results.
    fn step(&mut self, name: &str, tests: impl FnOnce() -> Result<ProgramResult>) {
        let clock = StepClock::start();
        let tests = self.add(name, tests());
        self.times.push(clock.stop(name, tests));
    }

    /// Runs test programs two at a time, in their order.
    fn run_in_lanes(&mut self, programs: &[&TestProgram], args: &TestArgs) {
        let mut jobs = Vec::new();
        for program in programs {
            jobs.push(Job {
                name: &program.name,
                run: Box::new(|output| program.run_into(args, output)),
            });
            if program.name == LONGEST && args.select_all_tests() {
                jobs.push(Job {
                    name: SERVER_ON_POSTGRES,
                    run: Box::new(|output| program.run_on_postgres(SERVER_ON_POSTGRES, output)),
                });
            }
        }
        let names: Vec<&str> = jobs.iter().map(|job| job.name).collect();
        print_step(&format!("running two at a time: {}", names.join("; ")));
        let clock = StepClock::start();
        let ended = lanes::run(&jobs);
        let group = self.times.len();
        let mut sum = 0;
        for Ended { name, time, result } in ended {
            let tests = self.add(name, result);
            sum += tests;
            self.times.push(StepTime {
                name: name.to_owned(),
                time,
                is_part: true,
                cpu: None,
                tests,
            });
        }
        self.times
            .insert(group, clock.stop("two programs at a time", sum));
    }

    /// Adds the result of a program, and returns the number of its tests.
    fn add(&mut self, name: &str, result: Result<ProgramResult>) -> u32 {
        let result = result.unwrap_or_else(|error| {
            println!("{name}: {error:#}");
            ProgramResult {
                counts: Counts {
                    failed: 1,
                    ..Counts::default()
                },
                failures: Vec::new(),
            }
        });
        self.counts += result.counts;
        self.failures.extend(result.failures);
        result.counts.passed + result.counts.failed
    }

    fn print_times(&self) {
        println!("\nwhere the time went (duration, CPU):");
        for step in &self.times {
            let tests = if step.tests == 0 {
                String::new()
            } else {
                format!("  {} tests", step.tests)
            };
            let indent = if step.is_part { "  " } else { "" };
            print_time(step.time, step.cpu, &format!("{indent}{}{tests}", step.name));
        }
        let steps = self.times.iter().filter(|step| !step.is_part);
        let all = steps.map(|step| step.time).sum();
        print_time(all, self.times.iter().map(|step| step.cpu).sum(), "all");
        println!();
    }
}

fn print_time(time: Duration, cpu: Option<Duration>, name: &str) {
    let cpu = cpu.map_or_else(String::new, |cpu| format!("{:.0} s", cpu.as_secs_f64()));
    println!("  {:>6.0} s  {cpu:>7}  {name}", time.as_secs_f64());
}

/// Measures a step.
struct StepClock {
    start: Instant,
    cpu_at_start: Option<Duration>,
}

impl StepClock {
    fn start() -> Self {
        Self {
            start: Instant::now(),
            cpu_at_start: cpu::time_of_children(),
        }
    }

    fn stop(self, name: &str, tests: u32) -> StepTime {
        StepTime {
            name: name.to_owned(),
            time: self.start.elapsed(),
            is_part: false,
            cpu: cpu::time_of_children()
                .zip(self.cpu_at_start)
                .map(|(end, start)| end.saturating_sub(start)),
            tests,
        }
    }
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_lists_skipped_tests_only_if_any() {
        let mut counts = Counts {
            passed: 2,
            failed: 0,
            skipped: 0,
        };
        assert_eq!(counts.to_string(), "2 passed, 0 failed");
        counts += Counts {
            passed: 0,
            failed: 1,
            skipped: 3,
        };
        assert_eq!(counts.to_string(), "2 passed, 1 failed, 3 skipped");
    }
}
