//! The memory that SQLite uses.

/// Returns the bytes that SQLite has allocated in this process, for all of its connections.
pub fn used() -> usize {
    #[expect(unsafe_code, reason = "SQLite's own counter; it has no other interface")]
    // SAFETY: the function takes nothing, and may be called at any time from any thread.
    let bytes = unsafe { libsqlite3_sys::sqlite3_memory_used() };
    usize::try_from(bytes).unwrap_or(0)
}
