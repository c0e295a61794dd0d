//! The `parlor` binary.

use std::process::ExitCode;

/// musl's allocator has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    parlor::command_line::run(parlor::server::built_in_pages)
}
