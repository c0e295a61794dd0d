//! The memory that the process has freed.

/// The size from which memory is taken from the system block by block, and returned when it is freed, in bytes. The hash of a
/// password takes 19 MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MIN_RETURNED_BYTES: i32 = 4 << 20;

/// Makes large blocks return to the system when they are freed. To be called before there are threads.
///
/// By default, glibc raises this size to that of the largest freed block, and keeps such blocks for the thread that had them:
/// 64 threads that hash passwords one after another hold a gigabyte.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn return_freed_memory() {
    #[expect(
        unsafe_code,
        reason = "glibc's own setting, otherwise read from the environment only"
    )]
    // SAFETY: the function sets a number, and is called before other threads allocate.
    let is_set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MIN_RETURNED_BYTES) };
    if is_set == 0 {
        tracing::debug!("freed memory stays with the process");
    }
}

/// Other allocators return large blocks by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_freed_memory() {}
