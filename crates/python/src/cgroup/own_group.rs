//! The cgroup (v2) of this process.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The cgroup of this process.
pub struct OwnGroup {
    pub folder: PathBuf,
    /// True if it is the root of its namespace, as in a container: nobody else manages it.
    pub is_namespace_root: bool,
}

/// Returns the cgroup of this process. `root` is the root folder of the system.
///
/// # Errors
///
/// If there is none, or it is not visible here. The reason in words.
pub fn find_own_group(root: &Path) -> Result<OwnGroup, String> {
    let read = |path: &str| {
        let text = fs::read_to_string(root.join(path));
        text.map_err(|error| format!("/{path} can't be read: {error}"))
    };
    let group = group_path(&read("proc/self/cgroup")?).ok_or("this process is in no cgroup of version 2")?;
    let mounts = read("proc/self/mountinfo")?;
    let folder = mounts.lines().find_map(|line| folder_in_mount(line, &group));
    let folder = folder.ok_or("no file system of cgroups (version 2) shows that of this process")?;
    // Below the root folder, also if that is another one.
    Ok(OwnGroup {
        folder: root.join(folder.strip_prefix("/").unwrap_or(&folder)),
        is_namespace_root: group == Path::new("/"),
    })
}

/// Returns the path of a process's cgroup from its `/proc/…/cgroup`. The line of version 2 has the number 0 and no controllers.
fn group_path(groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let path = Path::new(path);
    // A process can be outside of the namespace in which it looks: `/../x`.
    let is_inside = |part: Component<'_>| part != Component::ParentDir;
    (path.is_absolute() && path.components().all(is_inside)).then(|| path.to_owned())
}

/// Returns the folder of a cgroup in a file system, by its line in `/proc/self/mountinfo`; `None` if it is not there.
fn folder_in_mount(line: &str, group: &Path) -> Option<PathBuf> {
    let (place, kind) = line.split_once(" - ")?;
    if kind.split(' ').next() != Some("cgroup2") {
        return None;
    }
    let mut fields = place.split(' ').skip(3);
    let (shown, mount_point) = (unescape(fields.next()?), unescape(fields.next()?));
    let rest = group.strip_prefix(shown).ok()?;
    Some(Path::new(&mount_point).join(rest))
}

/// Returns a path of `/proc/self/mountinfo` without its escapes: `\040` for a space.
fn unescape(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(path.to_owned(), |path, (escape, character)| {
            path.replace(escape, character)
        })
}
