//! The filter of a session that shares processes and file systems with Parlor: calls that reach other processes, or change files that
//! need not be opened for it. Landlock covers opened files, signals and abstract sockets alone.

use super::{
    ALLOW, ARGUMENT_BYTES, Choice, FIRST_ARGUMENT_OFFSET, JUMP_IF_EQUAL, LOAD, Program, REJECT, RETURN,
    SUCCEED, UNKNOWN,
};

/// The position of the address among the arguments of `sendto`.
const SENDTO_ADDRESS: u32 = 4;

/// The calls that name other processes, or processes of the same user, and those whose rights a session never has here.
pub const UNKNOWN_WITHOUT_NAMESPACES: &[libc::c_long] = &[
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_ioprio_set,
    libc::SYS_chroot,
    libc::SYS_capset,
];

/// The changes of a file's owner.
pub const REFUSED_WITHOUT_NAMESPACES: &[libc::c_long] = &[
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// The attributes of files by their paths. Programs that copy files go on after this error.
pub const UNSUPPORTED_ATTRIBUTES: &[libc::c_long] = &[
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
];

/// The changes of a file's times, which do nothing and say that they succeeded: programs that unpack files give up if they fail.
pub const TIME_CHANGES: &[libc::c_long] = &[
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// A call that is allowed for the calling process alone, which 0 names as its first argument.
const fn own_process(call: libc::c_long) -> Choice {
    Choice {
        call,
        argument: 0,
        values: &[0],
        otherwise: UNKNOWN,
    }
}

/// The calls whose arguments are limited where a session has no namespaces.
pub const CHOICES_WITHOUT_NAMESPACES: &[Choice] = &[
    own_process(libc::SYS_prlimit64),
    own_process(libc::SYS_sched_getaffinity),
    own_process(libc::SYS_sched_setaffinity),
    own_process(libc::SYS_sched_getattr),
    own_process(libc::SYS_sched_setattr),
    // For other threads it does nothing and says that it succeeded: ZeroMQ gives its own the policy that they have, and ends otherwise.
    Choice {
        call: libc::SYS_sched_setscheduler,
        argument: 0,
        values: &[0],
        otherwise: SUCCEED,
    },
    own_process(libc::SYS_sched_setparam),
    own_process(libc::SYS_sched_rr_get_interval),
];

/// The calls that only the first code of a session needs. They reach sockets of others by a path, for the most part.
const SEALED: &[libc::c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    // They can name an address, which a filter can't see. Without them, no open file goes through a socket either.
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_seccomp,
    // It reaches all processes of the user. The first code of a session lowers its own priority.
    libc::SYS_setpriority,
];

/// Returns the second filter of such a session, for all its threads once its kernel has bound its own sockets. Before it, no code of a
/// call has run. Pairs of connected sockets can still be made.
pub fn seal() -> Option<Vec<u8>> {
    let mut program = Program::begin()?;
    program.decide(SEALED, REJECT)?;
    let address = FIRST_ARGUMENT_OFFSET + ARGUMENT_BYTES * SENDTO_ADDRESS;
    // A datagram goes to its address also from a connected socket, so there must be none.
    program.push(JUMP_IF_EQUAL, 0, 5, u32::try_from(libc::SYS_sendto).ok()?);
    program.push(LOAD, 0, 0, address);
    program.push(JUMP_IF_EQUAL, 0, 2, 0);
    program.push(LOAD, 0, 0, address + ARGUMENT_BYTES / 2);
    program.push(JUMP_IF_EQUAL, 1, 0, 0);
    program.push(RETURN, 0, 0, REJECT);
    program.push(RETURN, 0, 0, ALLOW);
    Some(program.bytes)
}
