//! The filter of system calls in the sandbox: those that reserve memory which no limit counts, or that reach far into the
//! kernel and that no computation needs. They fail with EPERM.

/// The system calls that fail.
const REJECTED: &[libc::c_long] = &[
    // Memory beside that of processes and folders.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_msgget,
    // Other processes, and namespaces.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    // Wide interfaces of the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    // Attributes of files: access lists can change a mode too.
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SYS_SETXATTRAT,
    SYS_FILE_SETATTR,
];

/// Calls of newer kernels (Linux 6.6, 6.13 and 6.17), with the same numbers on all architectures.
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_SETXATTRAT: libc::c_long = 463;
const SYS_FILE_SETATTR: libc::c_long = 469;

/// The system calls that change the mode of a file. For root they do nothing and say that they succeeded: the sandbox owns what
/// root owns, such as the system's devices, and programs give up if they fail.
const MODE_CHANGES: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
];

/// The families of sockets that are allowed: Unix, IPv4, IPv6, netlink. Namespaces do not cover all others, such as those between
/// a virtual machine and its host.
const SOCKET_FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The architecture as the kernel names it (`AUDIT_ARCH_…`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// The first number of the x32 calls, a second table of x86-64.
const X32_BIT: u32 = 0x4000_0000;

// The instructions of classic BPF: load a word, compare, return. <linux/filter.h>
const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// The offsets in `struct seccomp_data`.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
/// The lower half of the first argument, on machines whose numbers begin with it.
const FIRST_ARGUMENT_OFFSET: u32 = 16;

const ALLOW: u32 = 0x7FFF_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const SUCCEED: u32 = 0x0005_0000;
const REJECT: u32 = 0x0005_0000 | libc::EPERM as u32;

/// Returns the filter as bubblewrap reads it: instructions of BPF. `None` on an architecture that it does not know.
pub fn program(is_root: bool) -> Option<Vec<u8>> {
    let architecture = ARCHITECTURE?;
    let mut program = Vec::new();
    let mut push = |code: u16, if_true: u8, if_false: u8, value: u32| {
        program.extend_from_slice(&code.to_ne_bytes());
        program.extend_from_slice(&[if_true, if_false]);
        program.extend_from_slice(&value.to_ne_bytes());
    };
    push(LOAD, 0, 0, ARCHITECTURE_OFFSET);
    push(JUMP_IF_EQUAL, 1, 0, architecture);
    push(RETURN, 0, 0, KILL_PROCESS);
    push(LOAD, 0, 0, NUMBER_OFFSET);
    if cfg!(target_arch = "x86_64") {
        push(JUMP_IF_AT_LEAST, 0, 1, X32_BIT);
        push(RETURN, 0, 0, REJECT);
    }
    for number in REJECTED {
        push(JUMP_IF_EQUAL, 0, 1, u32::try_from(*number).ok()?);
        push(RETURN, 0, 0, REJECT);
    }
    for number in MODE_CHANGES.iter().filter(|_| is_root) {
        push(JUMP_IF_EQUAL, 0, 1, u32::try_from(*number).ok()?);
        push(RETURN, 0, 0, SUCCEED);
    }
    for number in [libc::SYS_socket, libc::SYS_socketpair] {
        let families = u8::try_from(SOCKET_FAMILIES.len()).ok()?;
        // Behind its block: the load, the comparisons, and two returns.
        push(JUMP_IF_EQUAL, 0, families + 3, u32::try_from(number).ok()?);
        push(LOAD, 0, 0, FIRST_ARGUMENT_OFFSET);
        for (left, family) in (0..families).rev().zip(SOCKET_FAMILIES) {
            push(JUMP_IF_EQUAL, left + 1, 0, u32::try_from(family).ok()?);
        }
        push(RETURN, 0, 0, REJECT);
        push(RETURN, 0, 0, ALLOW);
    }
    push(RETURN, 0, 0, ALLOW);
    Some(program)
}
