//! The filter of system calls in the sandbox: a list of those that computation needs. Others don't exist there. They could
//! hold memory of the kernel that no limit counts, or they reach far into it; calls of future kernels are among them.
//!
//! - [`lists`]: the allowed calls
//! - [`shared`]: what more is refused where no namespaces keep other processes and files out of reach
//!
//! [`watch`](super::watch) counts the memory that the kernel holds for allowed calls.

mod lists;
mod shared;
#[cfg(test)]
mod tests;

pub use self::shared::seal;
use self::{
    lists::{ALLOWED, ALLOWED_OLDER, MODE_CHANGES, REFUSED},
    shared::{
        CHOICES_WITHOUT_NAMESPACES, REFUSED_WITHOUT_NAMESPACES, TIME_CHANGES, UNKNOWN_WITHOUT_NAMESPACES,
        UNSUPPORTED_ATTRIBUTES,
    },
};

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
];

/// The calls whose arguments are limited in namespaces of the session's own.
const CHOICES_IN_NAMESPACES: &[Choice] = &[
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
const REJECT_UNSUPPORTED: u32 = SUCCEED | libc::EOPNOTSUPP as u32;
/// The answer of a kernel without such a call, for which libraries are prepared. It is the one for x32 calls too, a second table
/// of x86-64.
const UNKNOWN: u32 = SUCCEED | libc::ENOSYS as u32;

/// The surroundings of a filtered session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// Namespaces of its own, in which it has the rights of this user to files.
    Namespaces { is_root: bool },
    /// The processes and the file systems of Parlor itself, of which Landlock closes the files.
    Shared,
}

/// Returns the filter as the kernel reads it: instructions of BPF. `None` on an architecture that it does not know.
pub fn program(surroundings: Surroundings) -> Option<Vec<u8>> {
    let mut program = Program::begin()?;
    let (modes, choices) = match surroundings {
        Surroundings::Namespaces { is_root } => {
            (if is_root { SUCCEED } else { ALLOW }, CHOICES_IN_NAMESPACES)
        }
        Surroundings::Shared => {
            program.decide(UNKNOWN_WITHOUT_NAMESPACES, UNKNOWN)?;
            program.decide(REFUSED_WITHOUT_NAMESPACES, REJECT)?;
            program.decide(UNSUPPORTED_ATTRIBUTES, REJECT_UNSUPPORTED)?;
            program.decide(TIME_CHANGES, SUCCEED)?;
            // Its last one, which `seal` refuses.
            program.decide(&[libc::SYS_seccomp], ALLOW)?;
            (SUCCEED, CHOICES_WITHOUT_NAMESPACES)
        }
    };
    program.decide(REFUSED, REJECT)?;
    program.decide(MODE_CHANGES, modes)?;
    for choice in choices {
        program.choose(choice)?;
    }
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
    /// Loads the number of the call. A call of another architecture, with other numbers, ends the process.
    fn begin() -> Option<Self> {
        let mut program = Self::default();
        program.push(LOAD, 0, 0, ARCHITECTURE_OFFSET);
        program.push(JUMP_IF_EQUAL, 1, 0, ARCHITECTURE?);
        program.push(RETURN, 0, 0, KILL_PROCESS);
        program.push(LOAD, 0, 0, NUMBER_OFFSET);
        Some(program)
    }

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
