//! The end-to-end tests: Playwright drives a real Chromium against the real server. `scripts/test` has installed both.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Counts, END_TO_END, Failure, programs::ProgramResult};

/// The file that Playwright's configuration names for its report.
const REPORT: &str = "target/e2e.json";

/// Runs the tests that the arguments select.
pub fn run(args: &[String]) -> Result<ProgramResult> {
    let (passed, report) = run_playwright(args)?;
    let mut counts = parse_counts(&report).context("Playwright's report has no counts")?;
    if !passed && counts.failed == 0 {
        counts.failed = 1;
    }
    let mut failures = Vec::new();
    collect_failures(&report, &mut failures);
    Ok(ProgramResult { counts, failures })
}

/// Runs one test again. Returns whether it passed, and its output.
pub fn run_again(test: &str) -> Result<(bool, String)> {
    let (file, title) = test
        .split_once(": ")
        .context("an end-to-end test without a file")?;
    let args = [
        file.strip_prefix("end2end/").unwrap_or(file).to_owned(),
        "--grep".into(),
        format!("{}$", escape_regex(title)),
        // The recordings of the first run stay.
        "--output".into(),
        "test-results/again".into(),
    ];
    let (passed, report) = run_playwright(&args)?;
    let counts = parse_counts(&report).context("Playwright's report has no counts")?;
    let mut failures = Vec::new();
    collect_failures(&report, &mut failures);
    let output = failures
        .into_iter()
        .map(|failure| failure.output)
        .collect::<Vec<_>>();
    Ok((
        passed && counts.passed > 0 && counts.failed == 0,
        output.join("\n"),
    ))
}

fn run_playwright(args: &[String]) -> Result<(bool, Value)> {
    let _ = fs::remove_file(REPORT);
    let status = Command::new("npx")
        .args(["--no-install", "playwright", "test"])
        .args(args)
        .current_dir("end2end")
        .status()
        .context("starting Playwright")?;
    let report = fs::read_to_string(Path::new(REPORT)).context("Playwright left no report")?;
    Ok((
        status.success(),
        serde_json::from_str(&report).context("Playwright's report")?,
    ))
}

/// Returns the counts of Playwright's report.
fn parse_counts(report: &Value) -> Option<Counts> {
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

/// Adds the failed tests of a report, or of a group in it. A test is named by its file and title, as in
/// `docs/invariants.md`.
fn collect_failures(group: &Value, failures: &mut Vec<Failure>) {
    for inner in group["suites"].as_array().into_iter().flatten() {
        collect_failures(inner, failures);
    }
    for test in group["specs"].as_array().into_iter().flatten() {
        let (Some(file), Some(title)) = (test["file"].as_str(), test["title"].as_str()) else {
            continue;
        };
        if test["ok"].as_bool() == Some(false) {
            failures.push(Failure {
                program: END_TO_END.into(),
                test: format!("end2end/tests/{file}: {title}"),
                output: error_messages(test),
            });
        }
    }
}

fn error_messages(test: &Value) -> String {
    let attempts = test["tests"].as_array().into_iter().flatten();
    let results = attempts.flat_map(|attempt| attempt["results"].as_array().into_iter().flatten());
    let errors = results.flat_map(|result| result["errors"].as_array().into_iter().flatten());
    let messages: Vec<&str> = errors.filter_map(|error| error["message"].as_str()).collect();
    messages.join("\n")
}

/// Escapes what has a meaning in a regular expression of JavaScript.
fn escape_regex(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_ascii_punctuation() && !"_-'\"`,;:!@#%&~<>=".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parses_counts_of_a_report() {
        let report =
            json!({"stats": {"expected": 5, "unexpected": 1, "flaky": 1, "skipped": 3, "duration": 1.5}});
        let counts = Counts {
            passed: 5,
            failed: 2,
            skipped: 3,
        };
        assert_eq!(parse_counts(&report), Some(counts));
        assert_eq!(parse_counts(&json!({})), None);
    }

    #[test]
    fn failed_tests_have_file_title_and_errors() {
        let failed = json!({"title": "stops (at once)", "file": "stop.spec.ts", "ok": false, "tests": [
            {"results": [{"errors": [{"message": "timed out"}, {"message": "closed"}]}]}
        ]});
        let passed = json!({"title": "goes on", "file": "stop.spec.ts", "ok": true, "tests": []});
        let report = json!({"suites": [{"specs": [passed], "suites": [{"specs": [failed]}]}]});
        let mut failures = Vec::new();
        collect_failures(&report, &mut failures);
        let failure = Failure {
            program: END_TO_END.into(),
            test: "end2end/tests/stop.spec.ts: stops (at once)".into(),
            output: "timed out\nclosed".into(),
        };
        assert_eq!(failures, [failure]);
    }

    #[test]
    fn titles_are_literal_in_a_pattern() {
        assert_eq!(escape_regex("stops (at once), a.b"), r"stops \(at once\), a\.b");
    }
}
