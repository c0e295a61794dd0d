//! The process between the helper and a kernel under Landlock. It is the ancestor of all processes of the session, also of those whose
//! parents have ended, and ends them all at once: its own domain of Landlock contains theirs and nothing else, so that a signal to all
//! processes reaches only these. They can't signal it, because their domain is within its own.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    process::{Command, Stdio},
    thread,
};

use landlock::{
    ABI, Access, CompatLevel, Compatible, RestrictionStatus, Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use rustix::{
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, WaitStatus, geteuid, getpid, getppid, kill_process_group,
        set_child_subreaper, test_kill_process, wait,
    },
};

use crate::process::{CONFINED_SUBCOMMAND, OWN_PROGRAM};

/// The version of Landlock that is needed: the first one that confines signals (Linux 6.12).
pub const NEEDED: ABI = ABI::V6;

/// The status of a program that a signal has ended is this one and the signal's number, as bubblewrap and shells have it.
const SIGNAL_STATUS: i32 = 128;

/// Starts a kernel and keeps its processes until it ends, or the input does. Returns the status of the kernel.
pub fn run(rules: &str, command: &[String]) -> Result<u8, String> {
    confine_signals()?;
    set_child_subreaper(Some(getpid())).map_err(text)?;
    let mut starting = Command::new(OWN_PROGRAM);
    starting.args([CONFINED_SUBCOMMAND, rules, "--"]).args(command);
    let kernel = starting.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let kernel = Pid::from_child(&kernel.map_err(text)?);
    thread::spawn(|| {
        // The helper has ended, or ends the session.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        end_all();
    });
    let mut status = None;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, its_status))) if ended == kernel => {
                status = Some(its_status);
                end_all();
            }
            Ok(_) | Err(Errno::INTR) => {}
            // All have ended.
            Err(_) => break,
        }
    }
    Ok(status.map_or(1, status_of))
}

/// Confines signals of this process to its descendants.
///
/// # Errors
///
/// If that can't be had, or does not hold. Then nothing may be ended by [`end_all`].
fn confine_signals() -> Result<(), String> {
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::from_all(NEEDED))
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.restrict_self());
    check(&restricted.map_err(text)?)?;
    // Without Landlock, this process could signal one of the same user.
    let parent = getppid().ok_or("its helper has ended")?;
    let owner = fs::metadata(format!("/proc/{parent}")).map_err(text)?.uid();
    match test_kill_process(parent) {
        Err(Errno::PERM) if owner == geteuid().as_raw() => Ok(()),
        _ => Err("Landlock does not confine signals here".into()),
    }
}

/// Returns an error if a restriction is not complete.
pub fn check(status: &RestrictionStatus) -> Result<(), String> {
    match status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
        true => Ok(()),
        false => Err("Landlock is incomplete here (it needs Linux 6.12)".into()),
    }
}

/// Ends all processes that this one may signal, but not itself: those of the session, in one moment, so that none can escape by making
/// another one.
fn end_all() {
    // The system call `kill` with -1: the group of the first process has the number 1.
    let _ = kill_process_group(Pid::INIT, Signal::KILL);
}

fn status_of(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().map(|signal| SIGNAL_STATUS + signal);
    let status = status.exit_status().or(signal).unwrap_or(1);
    u8::try_from(status).unwrap_or(u8::MAX)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
