//! The second run of failed tests, in CI only: a failure there means the change, not a race with the machine.
//!
//! End-to-end and process tests depend on the speed of other programs. Each of these that failed is run again once, at
//! the end. If it passes then, it is flaky: it is reported with both outputs and does not fail the run. A flaky test is a
//! defect of its own. Tests that `docs/invariants.md` names have no second run, and outside CI no test has.

use std::{collections::HashSet, fs};

use anyhow::{Context, Result};

use super::{Counts, END_TO_END, Failure, playwright, programs::TestProgram};
use crate::doc_paths;

/// The tests that are run again at most. More failures have a cause that is not chance.
const MAX_SECOND_RUNS: usize = 3;

/// The program whose tests start the server as a process.
const PROCESS_TESTS: &str = "process";

/// Runs the failed tests that may be flaky again, corrects the counts, and returns the number of flaky ones.
pub fn run(failures: &[Failure], programs: &[TestProgram], counts: &mut Counts) -> Result<u32> {
    let invariants = fs::read_to_string("docs/invariants.md").context("reading docs/invariants.md")?;
    let mut flaky = 0;
    for failure in candidates(failures, &invariants) {
        println!("\nrunning again: {}", failure.test);
        let (passed, output) = run_again(failure, programs)?;
        println!(
            "{}: {}",
            if passed { "flaky" } else { "failed again" },
            failure.test
        );
        println!(
            "-- the first run\n{}\n-- the second run\n{}\n--",
            failure.output,
            output.trim()
        );
        if passed {
            flaky += 1;
            counts.failed -= 1;
            counts.passed += 1;
        }
    }
    Ok(flaky)
}

/// Returns the failures that are run again.
fn candidates<'a>(failures: &'a [Failure], invariants: &str) -> Vec<&'a Failure> {
    let named: HashSet<&str> = doc_paths::quoted(invariants).collect();
    let may_be_flaky = |failure: &&Failure| match failure.program.as_str() {
        END_TO_END => {
            let file = failure.test.split(": ").next().unwrap_or_default();
            !named.contains(&*failure.test) && !named.contains(file)
        }
        PROCESS_TESTS => !named.iter().any(|name| is_process_test(name, &failure.test)),
        _ => false,
    };
    failures
        .iter()
        .filter(may_be_flaky)
        .take(MAX_SECOND_RUNS)
        .collect()
}

/// Returns whether a document's name of a test (`tests/process/kill.rs::loses_nothing`) means this one, which may be in a
/// module of that file (`kill::properties::loses_nothing`).
fn is_process_test(name: &str, test: &str) -> bool {
    let Some((file, function)) = name
        .strip_prefix("tests/process/")
        .and_then(|name| name.split_once(".rs::"))
    else {
        return false;
    };
    let module = file.strip_suffix("/mod").unwrap_or(file).replace('/', "::");
    let path: Vec<&str> = test.split("::").collect();
    path.last() == Some(&function) && (module == "main" || test.starts_with(&(module + "::")))
}

/// Returns whether the test passed, and its output.
fn run_again(failure: &Failure, programs: &[TestProgram]) -> Result<(bool, String)> {
    if failure.program == END_TO_END {
        return playwright::run_again(&failure.test);
    }
    let program = programs.iter().find(|program| program.name == failure.program);
    let output = program
        .context("a failed test without a program")?
        .run_again(&failure.test)?;
    let text = [&output.stdout[..], &output.stderr].concat();
    Ok((
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(program: &str, test: &str) -> Failure {
        Failure {
            program: program.into(),
            test: test.into(),
            output: String::new(),
        }
    }

    #[test]
    fn only_tests_of_other_programs_may_be_flaky() {
        let invariants = "- A kill loses nothing. `tests/process/kill.rs::loses_nothing`\n\
             - Stops. `end2end/tests/stop.spec.ts: stops at once`\n\
             - Secrets stay. `tests/process/canary/mod.rs::finds_none`\n\
             - Screens are accessible. `end2end/tests/screens.spec.ts`\n";
        let failures = [
            failure("process", "kill::properties::loses_nothing"),
            failure("process", "canary::finds_none"),
            failure("process", "kill::another"),
            failure("server", "queue::in_order"),
            failure("parlor, unit tests", "journal::commits"),
            failure(END_TO_END, "end2end/tests/stop.spec.ts: stops at once"),
            failure(END_TO_END, "end2end/tests/screens.spec.ts: settings"),
            failure(END_TO_END, "end2end/tests/stop.spec.ts: stops in a tool"),
        ];
        let again: Vec<&str> = candidates(&failures, invariants)
            .iter()
            .map(|failure| &*failure.test)
            .collect();
        assert_eq!(
            again,
            ["kill::another", "end2end/tests/stop.spec.ts: stops in a tool"]
        );
    }

    #[test]
    fn three_tests_are_run_again_at_most() {
        let failures: Vec<Failure> = (0..5)
            .map(|i| failure("process", &format!("kill::test_{i}")))
            .collect();
        assert_eq!(candidates(&failures, "").len(), MAX_SECOND_RUNS);
    }
}
