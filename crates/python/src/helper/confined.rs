//! The confinement of a process by Landlock and a filter of system calls, before it becomes a Python. Files are closed but for the rules,
//! TCP, signals to others and abstract sockets wholly. Unix sockets by path stay until the kernel has bound its own
//! ([`seal`](super::filter::seal)).

use std::{os::unix::process::CommandExt, process::Command};

use landlock::{
    Access, AccessFs, AccessNet, CompatLevel, Compatible, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use seccompiler::sock_filter;

use super::{
    filter::{self, Surroundings},
    keeper::{self, NEEDED},
};
use crate::wire::LandlockRules;

/// Confines this process, and becomes a command. Returns the reason why it could not.
pub fn run(rules: &str, variables: &[String], command: &[String]) -> String {
    let [program, arguments @ ..] = command else {
        return "there is no command".into();
    };
    if let Err(error) = confine(rules) {
        return error;
    }
    let variables = variables.iter().filter_map(|variable| variable.split_once('='));
    let error = Command::new(program).args(arguments).envs(variables).exec();
    format!("{program} can't be started: {error}")
}

fn confine(rules: &str) -> Result<(), String> {
    let rules: LandlockRules = serde_json::from_str(rules).map_err(text)?;
    let filter = filter::program(Surroundings::Shared)
        .ok_or("its system calls can't be filtered on this processor")?;
    // Of a process that root started. They do not come back: nothing that it starts gets new privileges.
    let none = CapabilitySet::empty();
    let none = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, none).map_err(text)?;
    let status = restrict(&rules)
        .map_err(|error| format!("Landlock is not available here (it needs Linux 6.12): {error}"))?;
    keeper::check(&status)?;
    seccompiler::apply_filter(&instructions(&filter)).map_err(text)
}

fn restrict(rules: &LandlockRules) -> Result<RestrictionStatus, RulesetError> {
    let all = AccessFs::from_all(NEEDED);
    let devices = AccessFs::ReadFile | AccessFs::WriteFile;
    let writable = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(NEEDED))?
        .scope(Scope::from_all(NEEDED))?
        .create()?
        .add_rules(path_beneath_rules(&rules.readable, AccessFs::from_read(NEEDED)))?
        .add_rules(path_beneath_rules(&rules.devices, devices))?
        .add_rules(path_beneath_rules(&rules.writable, writable))?
        .restrict_self()
}

fn instructions(filter: &[u8]) -> Vec<sock_filter> {
    let instruction = |bytes: &[u8; 8]| {
        let [c0, c1, jt, jf, k0, k1, k2, k3] = *bytes;
        sock_filter {
            code: u16::from_ne_bytes([c0, c1]),
            jt,
            jf,
            k: u32::from_ne_bytes([k0, k1, k2, k3]),
        }
    };
    filter.as_chunks().0.iter().map(instruction).collect()
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
