//! The test programs that cargo builds: found, started, and their output read. Shared with `make fuzz`.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    num::NonZero,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Counts, Failure};
use crate::cargo;

/// The options of `cargo test` that have a value. What follows another word is a filter of test names.
const OPTIONS_WITH_VALUE: [&str; 7] = [
    "--test",
    "--package",
    "-p",
    "--bin",
    "--exclude",
    "--features",
    "--profile",
];

/// The tests of `tests/server` that run on both databases.
const TESTS_ON_POSTGRES: [&str; 5] = [
    "contract::",
    "resume::",
    "accounts::access",
    "queue::",
    "search::",
];

/// Most tests wait for a server, a database or a disk half of the time, so that one test per core leaves the cores idle.
const THREADS_PER_CORE: usize = 2;

/// The variable by which a test program takes the number of its threads.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// A test program.
#[derive(Debug, PartialEq, Eq)]
pub struct TestProgram {
    /// The name of the scenario tests (`server`), or of the package with its unit tests.
    pub name: String,
    pub executable: PathBuf,
    /// The package's folder, in which cargo would start the program.
    pub folder: PathBuf,
}

/// The arguments of `make test-rust`, as `cargo test` takes them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestArgs {
    /// Options that select programs: `--test server`.
    for_cargo: Vec<String>,
    /// Filters of test names, and options after `--`.
    for_programs: Vec<String>,
}

/// The result of one program.
#[derive(Debug, Default)]
pub struct ProgramResult {
    pub counts: Counts,
    pub failures: Vec<Failure>,
}

impl TestArgs {
    pub fn parse(args: &[String]) -> Self {
        let mut parsed = Self::default();
        let mut args = args.iter().cloned();
        while let Some(arg) = args.next() {
            if arg == "--" {
                parsed.for_programs.extend(args.by_ref());
            } else if OPTIONS_WITH_VALUE.contains(&arg.as_str()) {
                parsed.for_cargo.push(arg);
                parsed.for_cargo.extend(args.next());
            } else if arg.starts_with('-') {
                parsed.for_cargo.push(arg);
            } else {
                parsed.for_programs.push(arg);
            }
        }
        parsed
    }

    /// Returns true if no test is selected by its name.
    pub fn select_all_tests(&self) -> bool {
        self.for_programs.is_empty()
    }

    /// Returns whether the arguments select programs by name.
    pub fn select_programs(&self) -> bool {
        self.for_cargo.iter().any(|arg| arg == "--test")
    }
}

/// Builds the test programs of the packages and returns them, in cargo's order.
pub fn build(packages: &[&str], args: &TestArgs) -> Result<Vec<TestProgram>> {
    let mut command = cargo::cargo_command("test");
    command.args(packages).args(&args.for_cargo).args([
        "--no-run",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let built = command
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    if !built.status.success() {
        bail!("the tests do not build");
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    Ok(messages.lines().filter_map(parse_test_program).collect())
}

/// Returns the test program that a line of cargo's messages reports, if it is one.
fn parse_test_program(line: &str) -> Option<TestProgram> {
    let message: Value = serde_json::from_str(line).ok()?;
    message["profile"]["test"].as_bool().filter(|is_test| *is_test)?;
    let target = &message["target"];
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let is_scenario = target["kind"][0].as_str() == Some("test");
    let name = target["name"].as_str()?.to_owned();
    Some(TestProgram {
        name: if is_scenario {
            name
        } else {
            format!("{name}, unit tests")
        },
        executable: message["executable"].as_str()?.into(),
        folder: folder.into(),
    })
}

impl TestProgram {
    /// Returns a command that starts the program as cargo would.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder);
        command
    }

    /// Runs the tests that the arguments select, and prints the output as it comes.
    pub fn run(&self, args: &TestArgs) -> Result<ProgramResult> {
        println!("\n{}:", self.name);
        self.run_into(args, &mut io::stdout())
    }

    /// Runs the tests that the arguments select, and writes the output as it comes.
    pub fn run_into(&self, args: &TestArgs, output: &mut impl Write) -> Result<ProgramResult> {
        self.run_as(&self.name, self.command().args(&args.for_programs), output)
    }

    /// Runs the tests of the public contract again, with the data in Postgres instead of SQLite.
    pub fn run_on_postgres(&self, name: &str, output: &mut impl Write) -> Result<ProgramResult> {
        let mut command = self.command();
        command
            .env("PARLOR_TEST_DATABASE", "postgres")
            .args(TESTS_ON_POSTGRES);
        self.run_as(name, &mut command, output)
    }

    fn run_as(&self, name: &str, command: &mut Command, output: &mut impl Write) -> Result<ProgramResult> {
        if env::var_os(THREADS_VARIABLE).is_none() {
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            command.env(THREADS_VARIABLE, (cores * THREADS_PER_CORE).to_string());
        }
        let mut program = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", self.executable.display()))?;
        let mut lines = Vec::new();
        for line in BufReader::new(program.stdout.take().context("the program's output")?).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            writeln!(output, "{line}")?;
            lines.push(line);
        }
        let succeeded = program.wait()?.success();
        let mut result = parse_output(name, &lines);
        // A crashed program prints no counts.
        if !succeeded && result.counts.failed == 0 {
            result.counts.failed = 1;
        }
        Ok(result)
    }

    /// Runs one test again, with its whole output.
    pub fn run_again(&self, test: &str) -> Result<Output> {
        self.command()
            .args([test, "--exact", "--nocapture"])
            .output()
            .with_context(|| format!("starting {}", self.executable.display()))
    }
}

/// Reads the counts and the failed tests, each with its output, from what a program printed.
fn parse_output(program: &str, lines: &[String]) -> ProgramResult {
    let mut result = ProgramResult::default();
    for line in lines {
        if let Some(counts) = parse_test_result(line) {
            result.counts += counts;
        }
        let failed = line
            .strip_prefix("test ")
            .and_then(|line| line.strip_suffix(" ... FAILED"));
        if let Some(test) = failed {
            let test = test.strip_suffix(" - should panic").unwrap_or(test);
            result.failures.push(Failure {
                program: program.to_owned(),
                output: output_of(test, lines),
                test: test.to_owned(),
            });
        }
    }
    result
}

/// Returns the output of a failed test: the lines below `---- name stdout ----`, to the next such line or the list.
fn output_of(test: &str, lines: &[String]) -> String {
    let heading = format!("---- {test} stdout ----");
    let below = lines.iter().skip_while(|line| **line != heading).skip(1);
    let own = below.take_while(|line| {
        *line != "failures:" && !(line.starts_with("---- ") && line.ends_with(" stdout ----"))
    });
    own.map(|line| format!("{line}\n"))
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Parses `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
fn parse_test_result(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number = |word: &str| {
        numbers
            .split("; ")
            .find_map(|part| part.trim().strip_suffix(word)?.trim().parse::<u32>().ok())
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
        skipped: number("ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn parses_counts_of_a_program() {
        let line = "test result: FAILED. 13 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.10s";
        let counts = Counts {
            passed: 13,
            failed: 2,
            skipped: 1,
        };
        assert_eq!(parse_test_result(line), Some(counts));
        assert_eq!(parse_test_result("test result_is_parsed ... ok"), None);
    }

    #[test]
    fn failed_tests_have_their_output() {
        let lines = strings(&[
            "test kill::first ... FAILED",
            "test kill::second - should panic ... FAILED",
            "test kill::third ... ok",
            "",
            "failures:",
            "",
            "---- kill::first stdout ----",
            "panicked at tests/process/kill.rs",
            "left: 1",
            "",
            "---- kill::second stdout ----",
            "note: test did not panic",
            "",
            "failures:",
            "    kill::first",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s",
        ]);
        let result = parse_output("process", &lines);
        let failure = |test: &str, output: &str| Failure {
            program: "process".into(),
            test: test.into(),
            output: output.into(),
        };
        assert_eq!(
            result.failures,
            [
                failure("kill::first", "panicked at tests/process/kill.rs\nleft: 1"),
                failure("kill::second", "note: test did not panic"),
            ]
        );
        assert_eq!(result.counts.failed, 2);
    }

    #[test]
    fn arguments_are_options_of_cargo_or_filters() {
        let args = TestArgs::parse(&strings(&[
            "--test",
            "server",
            "--release",
            "journal",
            "--",
            "--ignored",
        ]));
        let expected = TestArgs {
            for_cargo: strings(&["--test", "server", "--release"]),
            for_programs: strings(&["journal", "--ignored"]),
        };
        assert_eq!(args, expected);
        assert!(args.select_programs());
    }

    #[test]
    fn finds_test_programs_in_cargo_messages() {
        let line = |is_test: bool, kind: &str, program: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","target":{{"name":"t","kind":["{kind}"]}},"profile":{{"test":{is_test}}},"executable":{program}}}"#
            )
        };
        let program = |name: &str| TestProgram {
            name: name.into(),
            executable: "/p/target/t".into(),
            folder: "/p".into(),
        };
        let path = "\"/p/target/t\"";
        assert_eq!(parse_test_program(&line(true, "test", path)), Some(program("t")));
        assert_eq!(
            parse_test_program(&line(true, "lib", path)),
            Some(program("t, unit tests"))
        );
        assert_eq!(parse_test_program(&line(false, "test", path)), None);
        assert_eq!(parse_test_program(&line(true, "test", "null")), None);
        assert_eq!(parse_test_program("warning: something"), None);
    }
}
