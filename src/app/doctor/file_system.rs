//! The file system of a folder: SQLite needs locks and shared memory, which network file systems do not keep between machines, and a
//! container's own file system is removed with it.

use std::path::{Path, PathBuf};

use parlor_base::notices::Notice;

/// File systems of other machines.
const OF_NETWORKS: [&str; 26] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "davfs",
    "fuse.blobfuse2",
    "fuse.ceph-fuse",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.gvfsd-fuse",
    "fuse.juicefs",
    "fuse.mfs",
    "fuse.mount-s3",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.seaweedfs",
    "fuse.sshfs",
    "glusterfs",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
    "virtiofs",
];

/// File systems whose content ends with the container or the machine.
const PASSING: [&str; 3] = ["overlay", "ramfs", "tmpfs"];

/// The kind of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// Of this machine's disks, or of an unknown kind.
    Local(String),
    Network(String),
    Passing(String),
}

/// Returns the file system that a folder lies on; `None` where the system does not tell.
pub fn of_folder(folder: &Path) -> Option<FileSystem> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    // A folder that is yet to be made lies on the one of its parent.
    let existing = folder.ancestors().find_map(|folder| folder.canonicalize().ok())?;
    Some(classify(&find(&mounts, &existing)?))
}

fn classify(kind: &str) -> FileSystem {
    if OF_NETWORKS.contains(&kind) {
        FileSystem::Network(kind.to_owned())
    } else if PASSING.contains(&kind) {
        FileSystem::Passing(kind.to_owned())
    } else {
        FileSystem::Local(kind.to_owned())
    }
}

/// Finds the kind of the innermost mount that has a path, in the format of `/proc/self/mountinfo`. A later line hides an earlier one
/// at the same place.
fn find(mounts: &str, path: &Path) -> Option<String> {
    let parse = |line: &str| {
        let (place, file_system) = line.split_once(" - ")?;
        let place = PathBuf::from(unescape(place.split(' ').nth(4)?));
        let kind = file_system.split(' ').next()?.to_owned();
        path.starts_with(&place)
            .then(|| (place.components().count(), kind))
    };
    let containing = mounts.lines().filter_map(parse);
    let innermost = containing.max_by_key(|(depth, _)| *depth)?;
    Some(innermost.1)
}

/// Restores the characters that the format writes as octal numbers.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

/// Returns the notice about a data folder on a network file system, if it lies on one.
pub fn network_notice(data: &Path) -> Option<Notice> {
    match of_folder(data)? {
        FileSystem::Network(kind) => Some(Notice {
            title: "The data folder is on a network file system".into(),
            text: format!(
                "{} lies on {kind}, where SQLite can lose or damage data, above all if a second Parlor opens it. Stop Parlor, move the \
                 folder to a disk of this machine, and start Parlor with it (setting server.data). Backups may lie on the network.",
                data.display()
            ),
        }),
        FileSystem::Local(_) | FileSystem::Passing(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
30 22 0:40 / /srv/my\\040data rw,relatime - nfs4 server:/data rw,vers=4.2
31 30 0:41 / /srv/my\\040data/local rw - xfs /dev/vdb rw
32 22 0:42 / /home rw - fuse.sshfs ann@host: rw
33 22 0:43 / /tmp rw - tmpfs tmpfs rw
";

    #[test]
    fn innermost_mount_decides() {
        let of = |path: &str| classify(&find(MOUNTS, Path::new(path)).unwrap());
        assert_eq!(of("/var/lib/parlor"), FileSystem::Local("ext4".into()));
        assert_eq!(of("/srv/my data/parlor"), FileSystem::Network("nfs4".into()));
        assert_eq!(of("/srv/my data/local/parlor"), FileSystem::Local("xfs".into()));
        assert_eq!(of("/srv/my data2"), FileSystem::Local("ext4".into()));
        assert_eq!(of("/home/ann/parlor"), FileSystem::Network("fuse.sshfs".into()));
        assert_eq!(of("/tmp/x"), FileSystem::Passing("tmpfs".into()));
    }

    #[test]
    fn later_mount_at_the_same_place_hides_the_earlier() {
        let mounts = format!("{MOUNTS}40 22 0:50 / /home rw - ext4 /dev/vdc rw\n");
        assert_eq!(find(&mounts, Path::new("/home/ann")).as_deref(), Some("ext4"));
    }
}
