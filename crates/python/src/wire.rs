//! The lines between the server and the helper process of a session: one JSON object each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The first line to the helper: the kernel to start, and its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelPlan {
    /// The command that starts the kernel.
    pub command: Vec<String>,
    /// All environment variables of the command.
    pub environment: Vec<(String, String)>,
    pub isolation: Isolation,
    /// The beginning of the paths of the kernel's sockets, which -1, -2 … complete.
    pub sockets: PathBuf,
    pub limits: KernelLimits,
    /// The cgroup of the command, if it gets one.
    pub group: Option<GroupPlan>,
}

/// The cgroups of a session, as paths of their folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPlan {
    /// The cgroup of the server and of the helper.
    pub home: PathBuf,
    /// The cgroup of the kernel.
    pub session: PathBuf,
}

/// The way in which a kernel is kept from the rest of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Namespaces. The command is bubblewrap's, and the paths of the sockets are those in its sandbox.
    Bubblewrap,
    /// Rules of Landlock and filters of system calls, which the helper's keeper applies to the command.
    Landlock(LandlockRules),
    None,
}

/// The places that a process under Landlock can open. All others are closed to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LandlockRules {
    /// Folders and files that it can read, and whose programs it can start.
    pub readable: Vec<PathBuf>,
    /// Devices that it can read and write.
    pub devices: Vec<PathBuf>,
    /// Folders in which it can do everything.
    pub writable: Vec<PathBuf>,
    /// The maximum size of the files in them, in bytes.
    pub writable_bytes: u64,
}

/// The limits that the helper enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelLimits {
    /// The memory limit of all processes of the sandbox together, in bytes.
    pub memory: u64,
    /// The maximum number of processes and threads of the sandbox.
    pub processes: usize,
    /// The maximum size of one message of the kernel, in bytes.
    pub message: u64,
    /// The maximum size of the text, and of the pictures, of one call, in bytes.
    pub output: usize,
    pub pictures: usize,
    pub start_seconds: u64,
}

/// A line to the helper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Execute code. A silent call shows nothing but what it prints, and is not counted.
    Execute { id: u64, code: String, is_silent: bool },
    /// Interrupt the code that runs.
    Interrupt,
}

/// A line of the helper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Report {
    /// The kernel takes requests.
    Ready,
    /// Printed text.
    Text { text: String },
    /// A value, or something that the code displays: its forms by media type.
    Display {
        /// The value as plain text, which every display has.
        text: String,
        /// A table, as Markdown.
        table: Option<String>,
        /// A picture: its media type, and its data in base64.
        picture: Option<(String, String)>,
    },
    /// A chart of Plotly, as its JSON.
    Chart { chart: String },
    /// An exception of the code.
    Error {
        name: String,
        message: String,
        traceback: String,
    },
    /// The call has ended. What exceeded the limits was left out: bytes of text, and pictures.
    Done {
        id: u64,
        omitted_text: usize,
        omitted_pictures: usize,
    },
    /// The memory that the session takes of the machine, when it has changed.
    Memory { bytes: u64 },
    /// The session has ended. `is_by_code`: its code has ended it, and does so again when it is repeated.
    Gone { cause: String, is_by_code: bool },
}

/// The largest line of the helper beyond the limits of text and pictures: an exception, the frame of JSON, and escapes.
pub const LINE_OVERHEAD_BYTES: usize = 256 << 10;

impl KernelLimits {
    /// Returns the limit of a line of the helper. JSON writes a character as up to six bytes, base64 three bytes as four,
    /// and a string that is JSON itself has at most two bytes for one.
    pub fn line_bytes(&self) -> usize {
        self.output * 6 + self.pictures * 2 + LINE_OVERHEAD_BYTES
    }
}
