//! `make test`: runs all tests and prints their number.

use crate::{build_both, cargo};
use anyhow::{Context, Result};
use std::{
    fmt, fs,
    io::{BufRead, BufReader},
    ops::AddAssign,
    path::Path,
    process::{Command, Stdio, exit},
};

/// Everything except this helper. Built together with it, many libraries would get other features than in the
/// server's own build, and would be compiled a second time.
pub const WORKSPACE_ARGS: [&str; 5] = ["--workspace", "--exclude", "xtask", "--features", "parlor/ssr"];
const XTASK_ARGS: [&str; 2] = ["--package", "xtask"];

/// Runs the tests named by the first argument (`rust`, `e2e`; both without one) and passes the others on.
/// Prints the counts as the last line. Returns an error if any test failed.
pub fn run(args: &[String]) -> Result<()> {
    let (rust, e2e, rest) = match args.first().map(String::as_str) {
        Some("rust") => (true, false, &args[1..]),
        Some("e2e") => (false, true, &args[1..]),
        _ => (true, true, args),
    };
    let mut counts = Counts::default();
    if rust {
        counts += run_step("Rust", || rust_tests(rest));
    }
    if e2e {
        counts += run_step("end to end", || e2e_tests(rest));
    }
    println!("{counts}");
    exit(i32::from(counts.failed > 0))
}

/// Runs a step. A step that cannot even start counts as one failure and does not hide the others' results.
fn run_step(name: &str, tests: impl FnOnce() -> Result<Counts>) -> Counts {
    let counts = tests().unwrap_or_else(|error| {
        println!("{name}: {error:#}");
        Counts {
            failed: 1,
            ..Counts::default()
        }
    });
    println!("\n{name}: {counts}\n");
    counts
}

fn rust_tests(args: &[String]) -> Result<Counts> {
    let mut counts = cargo_test(&WORKSPACE_ARGS, args)?;
    // The build helper has none of the test programs that `--test` names.
    if !args.iter().any(|arg| arg == "--test") {
        counts += cargo_test(&XTASK_ARGS, args)?;
    }
    Ok(counts)
}

fn cargo_test(packages: &[&str], args: &[String]) -> Result<Counts> {
    let mut command = cargo::cargo_command("test");
    command.args(packages).arg("--no-fail-fast").args(args);
    let mut cargo = command.stdout(Stdio::piped()).spawn().context("starting cargo")?;
    let mut counts = Counts::default();
    for line in BufReader::new(cargo.stdout.take().context("cargo's output")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some(more) = parse_test_result(&line) {
            counts += more;
        }
    }
    // A compile error or a crashed test program prints no counts.
    if !cargo.wait()?.success() && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(counts)
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

/// Runs Playwright, which drives a real Chromium against the real server; `scripts/test` has installed both.
fn e2e_tests(args: &[String]) -> Result<Counts> {
    build_both(|| cargo::run_checked(cargo::cargo_command("build").args(WORKSPACE_ARGS).arg("--bins")))?;
    let report = Path::new("target/e2e.json");
    let _ = fs::remove_file(report);
    let mut playwright = Command::new("npx");
    playwright
        .args(["--no-install", "playwright", "test"])
        .args(args)
        .current_dir("end2end");
    let passed = playwright.status().context("starting Playwright")?.success();
    let report = fs::read_to_string(report).context("Playwright left no report")?;
    let mut counts = parse_playwright(&report).context("Playwright's report has no counts")?;
    if !passed && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(counts)
}

/// Returns the counts of Playwright's JSON report. A test that passed only at a second attempt has failed.
fn parse_playwright(report: &str) -> Option<Counts> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    let number = |name: &str| {
        report["stats"][name]
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
    };
    Some(Counts {
        passed: number("expected")?,
        failed: number("unexpected")? + number("flaky")?,
        skipped: number("skipped")?,
    })
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Counts {
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
    fn parses_counts_of_cargo_and_playwright() {
        let line = "test result: FAILED. 13 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.10s";
        assert_eq!(
            parse_test_result(line),
            Some(Counts {
                passed: 13,
                failed: 2,
                skipped: 1
            })
        );
        assert_eq!(parse_test_result("test result_is_parsed ... ok"), None);

        let report =
            r#"{"stats": {"expected": 5, "unexpected": 1, "flaky": 1, "skipped": 3, "duration": 1.5}}"#;
        assert_eq!(
            parse_playwright(report),
            Some(Counts {
                passed: 5,
                failed: 2,
                skipped: 3
            })
        );
        assert_eq!(parse_playwright("{}"), None);
    }

    #[test]
    fn summary_lists_skipped_tests_only_if_any() {
        assert_eq!(
            Counts {
                passed: 2,
                failed: 0,
                skipped: 0
            }
            .to_string(),
            "2 passed, 0 failed"
        );
        assert_eq!(
            Counts {
                passed: 2,
                failed: 1,
                skipped: 3
            }
            .to_string(),
            "2 passed, 1 failed, 3 skipped"
        );
    }
}
