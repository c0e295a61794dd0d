//! Parlor's own program as a process that limits its memory: one that reads a file of others, or keeps a session of Python.

/// The variable, with its value, by which the allocator of static programs (mimalloc) reserves little. By itself it reserves a gigabyte of
/// addresses at the start, which counts in the limit of addresses (`RLIMIT_AS`) that such a process sets for itself.
pub const SMALL_RESERVE: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "16M");
