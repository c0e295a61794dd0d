//! Tests with an ordinary folder in place of the file system of cgroups: files are made when they are written.

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

const OWN: &str = "sys/fs/cgroup/system.slice/parlor.service";

/// A system whose Parlor runs in a cgroup of its own.
struct FakeSystem(TempDir);

impl FakeSystem {
    fn new() -> Self {
        let system = Self(tempfile::tempdir().unwrap());
        system.write("proc/self/cgroup", "0::/system.slice/parlor.service\n");
        system.write(
            "proc/self/mountinfo",
            "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
        );
        system.write_own(CONTROLLERS, "cpu memory pids\n");
        system.write_own(PROCESSES, &format!("{}\n", process::id()));
        system.write_own(SUBTREE_CONTROL, "");
        system
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file of its own cgroup, or below it.
    fn write_own(&self, file: &str, text: &str) {
        self.write(&format!("{OWN}/{file}"), text);
    }

    /// Makes a file that can't be written.
    fn refuse(&self, file: &str) {
        let path = self.own(file);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.join("full")).unwrap();
    }

    fn own(&self, file: &str) -> PathBuf {
        self.0.path().join(OWN).join(file)
    }

    fn read_own(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.own(file)).ok()
    }

    fn set_up(&self) -> Result<SessionGroups, String> {
        SessionGroups::set_up(self.0.path(), false, 2000, 8000)
    }
}

/// Deletes the files of a cgroup, which those of the system take along.
fn delete_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

#[test]
fn own_group_is_found_by_version_2_only() {
    let cgroup = "cgroup2 cgroup2 rw,nsdelegate";
    let v1 = "9:name=systemd:/x\n4:memory:/x\n";
    let cases = [
        // A service.
        (
            "0::/a.slice/b.service",
            "/ /sys/fs/cgroup",
            cgroup,
            Some("sys/fs/cgroup/a.slice/b.service"),
        ),
        // A container with a namespace of its own, and one without.
        ("0::/", "/ /sys/fs/cgroup", cgroup, Some("sys/fs/cgroup")),
        (
            "0::/docker/1/x",
            "/docker/1 /sys/fs/cgroup",
            cgroup,
            Some("sys/fs/cgroup/x"),
        ),
        ("0::/docker/1", "/docker/2 /sys/fs/cgroup", cgroup, None),
        // Both versions.
        (
            "4:memory:/x\n0::/y",
            "/ /sys/fs/cgroup/unified",
            cgroup,
            Some("sys/fs/cgroup/unified/y"),
        ),
        (
            "0::/y",
            "/ /sys/fs/my\\040groups",
            cgroup,
            Some("sys/fs/my groups/y"),
        ),
        // Version 1 alone, and a process outside of its namespace.
        (v1, "/ /sys/fs/cgroup", cgroup, None),
        (
            "0::/y",
            "/ /sys/fs/cgroup/memory",
            "cgroup cgroup rw,memory",
            None,
        ),
        ("0::/../y", "/ /sys/fs/cgroup", cgroup, None),
    ];
    for (group, place, kind, expected) in cases {
        let system = FakeSystem(tempfile::tempdir().unwrap());
        system.write("proc/self/cgroup", &format!("{group}\n"));
        let mounts =
            format!("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 24 0:26 {place} rw shared:4 - {kind}\n");
        system.write("proc/self/mountinfo", &mounts);
        let found = find_own_group(system.0.path()).map(|own| own.folder).ok();
        assert_eq!(
            found,
            expected.map(|path| system.0.path().join(path)),
            "{group} {place}"
        );
    }
}

#[test]
fn set_up_limits_all_sessions() {
    let system = FakeSystem::new();
    system.set_up().unwrap();
    for (file, text) in [
        ("parlor/cgroup.procs", "0"),
        ("cgroup.subtree_control", "+memory"),
        ("sessions/memory.max", "8000"),
        ("sessions/memory.swap.max", "0"),
        ("sessions/cgroup.subtree_control", "+memory"),
    ] {
        assert_eq!(system.read_own(file).as_deref(), Some(text), "{file}");
    }
}

#[test]
fn parlor_moves_before_memory_is_controlled() {
    let system = FakeSystem::new();
    system.refuse("parlor/cgroup.procs");
    fs::remove_file(system.own(SUBTREE_CONTROL)).unwrap();
    assert!(system.set_up().is_err());
    assert!(!system.own(SUBTREE_CONTROL).exists() && !system.own(SESSIONS).exists());
}

#[test]
fn failed_set_up_is_undone() {
    // Each step that can fail after Parlor has moved.
    for file in [
        SUBTREE_CONTROL,
        "sessions/memory.max",
        "sessions/cgroup.subtree_control",
    ] {
        let system = FakeSystem::new();
        system.refuse(file);
        let reason = system.set_up().err().unwrap();
        assert!(reason.starts_with("no cgroups can be made in"), "{reason}");
        assert_eq!(
            system.read_own(PROCESSES).as_deref().map(|text| &text[..1]),
            Some(SELF),
            "{file}"
        );
        if file != SUBTREE_CONTROL {
            assert_eq!(
                system.read_own(SUBTREE_CONTROL).as_deref(),
                Some("-memory"),
                "{file}"
            );
        }
    }
}

#[test]
fn nothing_changes_without_delegation() {
    let without_memory = FakeSystem::new();
    without_memory.write_own(CONTROLLERS, "cpu pids\n");
    let shared = FakeSystem::new();
    shared.write_own(PROCESSES, &format!("1\n{}\n", process::id()));
    for (system, expected) in [
        (without_memory, "its own cgroup does not control memory"),
        (shared, "its own cgroup has other processes"),
    ] {
        let processes = system.read_own(PROCESSES);
        assert_eq!(system.set_up().err().as_deref(), Some(expected));
        assert_eq!(system.read_own(PROCESSES), processes);
        assert_eq!(system.read_own(SUBTREE_CONTROL).as_deref(), Some(""));
        assert!(!system.own(HOME).exists());
    }
}

#[test]
fn root_takes_only_the_cgroup_of_a_container() {
    let system = FakeSystem::new();
    let refused = SessionGroups::set_up(system.0.path(), true, 2000, 8000);
    assert!(refused.err().unwrap().contains("delegated"));
    assert!(!system.own(HOME).exists());
}

#[test]
fn set_up_removes_leftovers() {
    let system = FakeSystem::new();
    fs::create_dir_all(system.own("sessions/7-1")).unwrap();
    // Its processes still end.
    system.write_own("sessions/7-2/cgroup.procs", "7");
    system.set_up().unwrap();
    assert!(!system.own("sessions/7-1").exists() && system.own("sessions/7-2").exists());
}

#[tokio::test(start_paused = true)]
async fn session_has_a_group_as_long_as_it_runs() {
    let system = FakeSystem::new();
    let groups = system.set_up().unwrap();
    let (first, second) = (groups.make_session().unwrap(), groups.make_session().unwrap());
    let folder = first.plan().session.clone();
    assert_ne!(folder, second.plan().session);
    for (file, text) in [("memory.max", "2000"), ("memory.oom.group", "1")] {
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), text, "{file}");
    }
    fs::write(folder.join("cgroup.kill"), "").unwrap();
    drop(first);
    // Its processes still end.
    assert_eq!(fs::read_to_string(folder.join("cgroup.kill")).unwrap(), "1");
    delete_files(&folder);
    let removed = async {
        while folder.exists() {
            sleep(REMOVE_INTERVAL).await;
        }
    };
    timeout(REMOVE_INTERVAL * MAX_REMOVE_TRIES, removed)
        .await
        .unwrap();
    delete_files(&second.plan().session);
    let folder = second.plan().session.clone();
    drop(second);
    assert!(!folder.exists());
}
