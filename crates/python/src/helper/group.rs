//! The cgroup of a session: the kernel's way there, and the limit of memory for which the system has ended it.

use std::{
    fs, io,
    process::{Child, Command},
};

use crate::{
    cgroup::{PROCESSES, SELF},
    wire::GroupPlan,
};

/// The memory limit for which the system has ended processes of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    Session,
    /// That of all sessions, or of the machine.
    Other,
}

/// Starts a command in the cgroup of its session. The helper goes there and back, so that the command is there from its first instruction.
///
/// # Errors
///
/// If the command can't be started there. It has not been started elsewhere.
pub fn spawn_in(group: &GroupPlan, command: &mut Command) -> io::Result<Child> {
    fs::write(group.session.join(PROCESSES), SELF)?;
    let spawned = command.spawn();
    let Err(error) = fs::write(group.home.join(PROCESSES), SELF) else {
        return spawned;
    };
    let mut child = spawned?;
    let _ = child.kill();
    let _ = child.wait();
    Err(error)
}

/// Returns the limit for which the system has ended processes of a session; `None` if it has not.
pub fn reached_limit(group: &GroupPlan) -> Option<ReachedLimit> {
    let events = fs::read_to_string(group.session.join("memory.events")).ok()?;
    let count = |name: &str| {
        let mut lines = events.lines().filter_map(|line| line.split_once(' '));
        let (_, count) = lines.find(|(event, _)| *event == name)?;
        count.parse::<u64>().ok()
    };
    if count("oom_kill")? == 0 {
        return None;
    }
    // It counts only what reached the limit of this cgroup.
    match count("oom").unwrap_or_default() {
        0 => Some(ReachedLimit::Other),
        1.. => Some(ReachedLimit::Session),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tempfile::TempDir;

    use super::*;

    /// Returns ordinary folders in place of cgroups: files are made when they are written.
    fn fake_group() -> (TempDir, GroupPlan) {
        let folder = tempfile::tempdir().unwrap();
        let [home, session] = ["parlor", "session"].map(|name| folder.path().join(name));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&session).unwrap();
        (folder, GroupPlan { home, session })
    }

    #[test]
    fn command_starts_in_the_group_of_its_session() {
        let (_folder, group) = fake_group();
        let mut command = Command::new("grep");
        command.args(["-q", SELF]).arg(group.session.join(PROCESSES));
        let mut child = spawn_in(&group, &mut command).unwrap();
        assert!(child.wait().unwrap().success());
        // The helper is back.
        assert_eq!(fs::read_to_string(group.home.join(PROCESSES)).unwrap(), SELF);
    }

    #[test]
    fn nothing_runs_outside_of_its_group() {
        let (_folder, group) = fake_group();
        let (input, end_input) = io::pipe().unwrap();
        let (mut output, to_output) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        // Says that it lives when its input ends.
        command.args(["-c", "read _; echo alive"]);
        command.stdin(input).stdout(to_output);
        fs::remove_dir(&group.session).unwrap();
        assert!(spawn_in(&group, &mut command).is_err());
        fs::create_dir(&group.session).unwrap();
        // The helper can't go back: the command is ended.
        fs::remove_dir(&group.home).unwrap();
        assert!(spawn_in(&group, &mut command).is_err());
        drop((command, end_input));
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }

    #[test]
    fn limit_is_that_of_the_session_or_another() {
        let (_folder, group) = fake_group();
        assert_eq!(reached_limit(&group), None);
        let reached = |events: &str| {
            fs::write(group.session.join("memory.events"), events).unwrap();
            reached_limit(&group)
        };
        assert_eq!(reached("high 0\nmax 8\noom 0\noom_kill 0\n"), None);
        let own = "max 8\noom 1\noom_kill 3\noom_group_kill 1\n";
        assert_eq!(reached(own), Some(ReachedLimit::Session));
        assert_eq!(reached("max 0\noom 0\noom_kill 3\n"), Some(ReachedLimit::Other));
    }
}
