//! Test programs two at a time: the tests of one wait for a third of the time.

use std::{
    io::{self, Write},
    sync::{
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::programs::ProgramResult;

/// The number of programs that run at the same time.
const LANES: usize = 2;

/// Runs a program, and writes what it prints.
type Run<'a> = dyn Fn(&mut Vec<u8>) -> Result<ProgramResult> + Send + Sync + 'a;

/// A program to run. What it prints is printed when it has ended.
pub struct Job<'a> {
    pub name: &'a str,
    pub run: Box<Run<'a>>,
}

/// The end of a program.
pub struct Ended<'a> {
    pub name: &'a str,
    pub time: Duration,
    pub result: Result<ProgramResult>,
}

/// Runs all jobs, begun in their order. Returns them in the order of their ends.
pub fn run<'a>(jobs: &[Job<'a>]) -> Vec<Ended<'a>> {
    let next = &AtomicUsize::new(0);
    let (sender, ended) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..LANES {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Relaxed)) {
                    let ended = run_one(job);
                    // The receiver outlives the scope.
                    let _ = sender.send(ended);
                }
            });
        }
        drop(sender);
        ended.iter().collect()
    })
}

fn run_one<'a>(job: &Job<'a>) -> Ended<'a> {
    let begun = Instant::now();
    let mut output = format!("\n{}:\n", job.name).into_bytes();
    let result = (job.run)(&mut output);
    // At once, so that the outputs of two programs do not mix. A closed terminal fails no test.
    let _ = io::stdout().lock().write_all(&output);
    Ended {
        name: job.name,
        time: begun.elapsed(),
        result,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn two_jobs_run_at_a_time_and_all_end() {
        let meeting = Barrier::new(2);
        let job = |name, meets: bool| Job {
            name,
            run: Box::new({
                let meeting = &meeting;
                move |_| {
                    if meets {
                        meeting.wait();
                    }
                    Ok(ProgramResult::default())
                }
            }),
        };
        let ended = run(&[job("first", true), job("second", true), job("third", false)]);
        let mut names: Vec<&str> = ended.iter().map(|ended| ended.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["first", "second", "third"]);
    }
}
