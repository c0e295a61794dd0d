//! The filter of system calls in the sandbox: a list of those that computation needs. Others don't exist there. They could
//! hold memory of the kernel that no limit counts, or they reach far into it; calls of future kernels are among them.
//!
//! [`watch`](super::watch) counts the memory that the kernel holds for allowed calls.

mod lists;
#[cfg(test)]
mod tests;

use self::lists::{ALLOWED, ALLOWED_OLDER, MODE_CHANGES, REFUSED};

/// A call of which one argument must be among some values.
struct Choice {
    call: libc::c_long,
    /// The position of the argument, whose lower 32 bits are compared.
    argument: u32,
    values: &'static [libc::c_int],
    /// The outcome of other values.
    otherwise: u32,
}

/// The calls whose arguments are limited.
const CHOICES: &[Choice] = &[
    // Unix sockets alone, whose buffers do not grow. A connection by TCP holds megabytes, also one within the sandbox, and counts in
    // a limit for the whole machine. Namespaces do not cover other families, such as those between a virtual machine and its host.
    // ZeroMQ goes on after this error only.
    Choice {
        call: libc::SYS_socket,
        argument: 0,
        values: &[libc::AF_UNIX],
        otherwise: REJECT_VALUE,
    },
    Choice {
        call: libc::SYS_socketpair,
        argument: 0,
        values: &[libc::AF_UNIX],
        otherwise: REJECT_VALUE,
    },
    // Not the size of buffers, and no programs that filter. Libraries do not expect these to fail.
    Choice {
        call: libc::SYS_setsockopt,
        argument: 2,
        values: &[
            libc::SO_REUSEADDR,
            libc::SO_KEEPALIVE,
            libc::SO_LINGER,
            libc::SO_PASSCRED,
            libc::SO_RCVTIMEO,
            libc::SO_SNDTIMEO,
        ],
        otherwise: SUCCEED,
    },
    // No table of open files for a single thread: the files of a process are counted by one table.
    Choice {
        call: libc::SYS_close_range,
        argument: 2,
        values: &[0, libc::CLOSE_RANGE_CLOEXEC.cast_signed()],
        otherwise: REJECT_VALUE,
    },
    // Not the size of pipes, no notifications, and no locks of open files, which show no process that they belong to.
    Choice {
        call: libc::SYS_fcntl,
        argument: 1,
        values: &[
            libc::F_DUPFD,
            libc::F_DUPFD_CLOEXEC,
            libc::F_GETFD,
            libc::F_SETFD,
            libc::F_GETFL,
            libc::F_SETFL,
            libc::F_GETLK,
            libc::F_SETLK,
            libc::F_SETLKW,
            libc::F_SETOWN,
            libc::F_GETOWN,
            libc::F_GETPIPE_SZ,
            libc::F_GET_SEALS,
        ],
        otherwise: REJECT_VALUE,
    },
    // Not the size of the table of futexes (Linux 6.16), no names of mappings, no filters, and no hiding of a process.
    Choice {
        call: libc::SYS_prctl,
        argument: 0,
        values: &[
            libc::PR_SET_PDEATHSIG,
            libc::PR_GET_PDEATHSIG,
            libc::PR_GET_DUMPABLE,
            libc::PR_SET_NAME,
            libc::PR_GET_NAME,
            libc::PR_SET_TIMERSLACK,
            libc::PR_GET_TIMERSLACK,
            libc::PR_SET_THP_DISABLE,
            libc::PR_GET_THP_DISABLE,
            libc::PR_SET_CHILD_SUBREAPER,
            libc::PR_GET_CHILD_SUBREAPER,
            libc::PR_SET_NO_NEW_PRIVS,
            libc::PR_GET_NO_NEW_PRIVS,
            libc::PR_CAPBSET_READ,
            libc::PR_CAP_AMBIENT,
        ],
        otherwise: REJECT_VALUE,
    },
    // A session that starts leaves the namespace whose mounts name folders of the system. Later ones lack the right to do so.
    Choice {
        call: libc::SYS_unshare,
        argument: 0,
        values: &[libc::CLONE_NEWNS],
        otherwise: REJECT,
    },
];

/// The flags of mappings, in the argument at this position.
const MAPPING_FLAGS: u32 = 3;

/// The architecture as the kernel names it (`AUDIT_ARCH_…`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

// The instructions of classic BPF: load a word, jump, return. <linux/filter.h>
const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// The maximum number of comparisons that jump to the same place: a distance has eight bits.
const MAX_COMPARISONS: usize = 200;

/// The offsets in `struct seccomp_data`.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
/// The lower half of the first argument, on machines whose numbers begin with it.
const FIRST_ARGUMENT_OFFSET: u32 = 16;
const ARGUMENT_BYTES: u32 = 8;

const ALLOW: u32 = 0x7FFF_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const SUCCEED: u32 = 0x0005_0000;
const REJECT: u32 = SUCCEED | libc::EPERM as u32;
const REJECT_VALUE: u32 = SUCCEED | libc::EINVAL as u32;
/// The answer of a kernel without such a call, for which libraries are prepared. It is the one for x32 calls too, a second table
/// of x86-64.
const UNKNOWN: u32 = SUCCEED | libc::ENOSYS as u32;

/// Returns the filter as bubblewrap reads it: instructions of BPF. `None` on an architecture that it does not know.
pub fn program(is_root: bool) -> Option<Vec<u8>> {
    let architecture = ARCHITECTURE?;
    let mut program = Program::default();
    program.push(LOAD, 0, 0, ARCHITECTURE_OFFSET);
    program.push(JUMP_IF_EQUAL, 1, 0, architecture);
    program.push(RETURN, 0, 0, KILL_PROCESS);
    program.push(LOAD, 0, 0, NUMBER_OFFSET);
    program.decide(REFUSED, REJECT)?;
    program.decide(MODE_CHANGES, if is_root { SUCCEED } else { ALLOW })?;
    program.decide(ALLOWED, ALLOW)?;
    program.decide(ALLOWED_OLDER, ALLOW)?;
    for choice in CHOICES {
        program.choose(choice)?;
    }
    program.limit_mappings()?;
    program.limit_threads()?;
    program.push(RETURN, 0, 0, UNKNOWN);
    Some(program.bytes)
}

/// The instructions of a filter.
#[derive(Default)]
struct Program {
    bytes: Vec<u8>,
}

impl Program {
    /// Adds an instruction. The distances of a jump count from the next one.
    fn push(&mut self, code: u16, if_true: u8, if_false: u8, value: u32) {
        self.bytes.extend_from_slice(&code.to_ne_bytes());
        self.bytes.extend_from_slice(&[if_true, if_false]);
        self.bytes.extend_from_slice(&value.to_ne_bytes());
    }

    /// Returns `action` if the loaded word is one of these.
    fn decide(&mut self, words: &[impl Copy + TryInto<u32>], action: u32) -> Option<()> {
        for words in words.chunks(MAX_COMPARISONS) {
            let count = u8::try_from(words.len()).ok()?;
            for (left, word) in (0..count).rev().zip(words) {
                self.push(JUMP_IF_EQUAL, left + 1, 0, (*word).try_into().ok()?);
            }
            self.push(JUMP, 0, 0, 1);
            self.push(RETURN, 0, 0, action);
        }
        Some(())
    }

    fn choose(&mut self, choice: &Choice) -> Option<()> {
        // Behind its block: the load, the comparisons with a jump and a return, and the other return.
        let length = u8::try_from(choice.values.len()).ok()?.checked_add(4)?;
        self.push(JUMP_IF_EQUAL, 0, length, u32::try_from(choice.call).ok()?);
        self.push(
            LOAD,
            0,
            0,
            FIRST_ARGUMENT_OFFSET + ARGUMENT_BYTES * choice.argument,
        );
        self.decide(choice.values, ALLOW)?;
        self.push(RETURN, 0, 0, choice.otherwise);
        Some(())
    }

    /// Allows mappings, except shared memory without a file, which stays when nothing maps it, and huge pages, which count for no
    /// process.
    fn limit_mappings(&mut self) -> Option<()> {
        let bits = |flags: libc::c_int| u32::try_from(flags).ok();
        self.push(JUMP_IF_EQUAL, 0, 6, u32::try_from(libc::SYS_mmap).ok()?);
        self.push(LOAD, 0, 0, FIRST_ARGUMENT_OFFSET + ARGUMENT_BYTES * MAPPING_FLAGS);
        self.push(JUMP_IF_ANY_BIT, 2, 0, bits(libc::MAP_HUGETLB)?);
        self.push(JUMP_IF_ANY_BIT, 0, 2, bits(libc::MAP_ANONYMOUS)?);
        self.push(JUMP_IF_ANY_BIT, 0, 1, bits(libc::MAP_SHARED)?);
        self.push(RETURN, 0, 0, REJECT);
        self.push(RETURN, 0, 0, ALLOW);
        Some(())
    }

    /// Allows new processes, and threads that share the open files of their process: others would count for none. The newer call,
    /// whose flags a filter can't see, does not exist.
    fn limit_threads(&mut self) -> Option<()> {
        let bits = |flags: libc::c_int| u32::try_from(flags).ok();
        self.push(JUMP_IF_EQUAL, 0, 5, u32::try_from(libc::SYS_clone).ok()?);
        self.push(LOAD, 0, 0, FIRST_ARGUMENT_OFFSET);
        self.push(JUMP_IF_ANY_BIT, 0, 2, bits(libc::CLONE_THREAD)?);
        self.push(JUMP_IF_ANY_BIT, 1, 0, bits(libc::CLONE_FILES)?);
        self.push(RETURN, 0, 0, REJECT);
        self.push(RETURN, 0, 0, ALLOW);
        Some(())
    }
}
