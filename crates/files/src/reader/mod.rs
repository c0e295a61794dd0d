//! The process that reads one file of any origin, with limits on memory and time: an [`image`] or a [`document`], whose form
//! for models it writes, or the rows of [`tables`]. Parlor runs itself for it, with a subcommand.
//!
//! A reader may panic, and memory may not suffice: that ends this process only.

use std::{
    fs::File,
    io::{self, Write},
};

mod column_values;
mod delimited;
pub mod document;
pub mod image;
mod markup_table;
mod notebook;
mod office;
mod pdf;
mod slides;
mod table;
pub mod tables;
#[cfg(test)]
mod tests;
mod text;
mod workbook;
mod workbook_cell;

/// The maximum computing time of the process, in seconds.
const MAX_SECONDS: u64 = 30;

/// Limits of the process that its arguments name.
#[derive(Clone, Copy, Debug)]
struct ProcessLimits {
    /// The maximum memory, in bytes.
    memory: u64,
    /// The maximum size of the files that it writes, in bytes.
    output: u64,
}

/// Limits the memory and the computing time of this process.
#[cfg(unix)]
fn limit_resources(limits: ProcessLimits) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = |value: u64| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    for (resource, value) in [
        (Resource::As, limits.memory),
        (Resource::Cpu, MAX_SECONDS),
        (Resource::Fsize, limits.output),
        (Resource::Core, 0),
    ] {
        if let Err(error) = setrlimit(resource, limit(value)) {
            let _ = writeln!(io::stderr(), "no limit: {error}");
        }
    }
}

#[cfg(not(unix))]
fn limit_resources(_: ProcessLimits) {}

/// Returns the file that is the standard input.
#[cfg(unix)]
fn input_file() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn input_file() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
}
