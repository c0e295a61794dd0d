//! The filter as the kernel runs it.

use super::{
    ALLOW, ALLOWED, ALLOWED_OLDER, ARCHITECTURE, JUMP, JUMP_IF_ANY_BIT, JUMP_IF_EQUAL, LOAD, REJECT,
    REJECT_UNSUPPORTED, REJECT_VALUE, RETURN, SUCCEED, Surroundings, UNKNOWN, program, seal,
};

/// Returns the outcome of a call as the kernel runs the program.
fn outcome(program: &[u8], number: libc::c_long, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend_from_slice(&u32::try_from(number).unwrap().to_ne_bytes());
    data.extend_from_slice(&ARCHITECTURE.unwrap().to_ne_bytes());
    data.extend_from_slice(&[0; 8]);
    data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
    let mut loaded = 0;
    let mut at = 0;
    loop {
        let instruction = &program[at * 8..at * 8 + 8];
        let code = u16::from_ne_bytes(instruction[..2].try_into().unwrap());
        let value = u32::from_ne_bytes(instruction[4..].try_into().unwrap());
        at += 1;
        let jump = |is_true: bool| usize::from(instruction[if is_true { 2 } else { 3 }]);
        match code {
            LOAD => {
                let offset = value as usize;
                loaded = u32::from_ne_bytes(data[offset..offset + 4].try_into().unwrap());
            }
            JUMP => at += value as usize,
            JUMP_IF_EQUAL => at += jump(loaded == value),
            JUMP_IF_ANY_BIT => at += jump(loaded & value != 0),
            RETURN => return value,
            _ => panic!("unknown instruction {code:#x}"),
        }
    }
}

#[test]
fn only_calls_on_the_list_exist() {
    let program = program(Surroundings::Namespaces { is_root: false }).unwrap();
    for number in [
        libc::SYS_semget,
        libc::SYS_shmget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        libc::SYS_memfd_create,
        libc::SYS_memfd_secret,
        libc::SYS_userfaultfd,
        libc::SYS_io_setup,
        libc::SYS_io_uring_setup,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_inotify_init1,
        libc::SYS_fanotify_init,
        libc::SYS_vmsplice,
        libc::SYS_splice,
        libc::SYS_tee,
        libc::SYS_timer_create,
        libc::SYS_landlock_create_ruleset,
        libc::SYS_seccomp,
        libc::SYS_mbind,
        libc::SYS_add_key,
        libc::SYS_keyctl,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_madvise,
        libc::SYS_pidfd_getfd,
        libc::SYS_mount,
        libc::SYS_setns,
        libc::SYS_clone3,
        // The next call that a kernel will get, and the x32 table.
        1000,
        0x4000_0000 | libc::SYS_read,
    ] {
        assert_eq!(outcome(&program, number, [0; 6]), UNKNOWN, "{number}");
    }
    for number in ALLOWED.iter().chain(ALLOWED_OLDER) {
        assert_eq!(outcome(&program, *number, [0; 6]), ALLOW, "{number}");
    }
}

#[test]
fn arguments_decide() {
    let program = program(Surroundings::Namespaces { is_root: true }).unwrap();
    let word = |value: libc::c_int| u64::try_from(value).unwrap();
    let mapped =
        |flags: libc::c_int| outcome(&program, libc::SYS_mmap, [0, 4096, 3, word(flags), u64::MAX, 0]);
    assert_eq!(mapped(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS), ALLOW);
    assert_eq!(mapped(libc::MAP_SHARED), ALLOW);
    assert_eq!(mapped(libc::MAP_SHARED | libc::MAP_ANONYMOUS), REJECT);
    assert_eq!(mapped(libc::MAP_SHARED_VALIDATE | libc::MAP_ANONYMOUS), REJECT);
    assert_eq!(
        mapped(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB),
        REJECT
    );
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        for (family, expected) in [
            (libc::AF_UNIX, ALLOW),
            (libc::AF_INET, REJECT_VALUE),
            (libc::AF_INET6, REJECT_VALUE),
            (libc::AF_NETLINK, REJECT_VALUE),
            (libc::AF_ALG, REJECT_VALUE),
            (libc::AF_VSOCK, REJECT_VALUE),
            (libc::AF_PACKET, REJECT_VALUE),
        ] {
            // The kernel takes the lower half alone.
            for upper in [0, 1 << 32] {
                let arguments = [word(family) | upper, 1, 0, 0, 0, 0];
                assert_eq!(outcome(&program, call, arguments), expected, "{family}");
            }
        }
    }
    let second = |call, value| outcome(&program, call, [0, word(value), 0, 0, 0, 0]);
    assert_eq!(second(libc::SYS_fcntl, libc::F_SETLK), ALLOW);
    assert_eq!(second(libc::SYS_fcntl, libc::F_SETPIPE_SZ), REJECT_VALUE);
    assert_eq!(second(libc::SYS_fcntl, libc::F_OFD_SETLK), REJECT_VALUE);
    let first = |call, value| outcome(&program, call, [word(value), 0, 0, 0, 0, 0]);
    assert_eq!(first(libc::SYS_prctl, libc::PR_SET_NAME), ALLOW);
    assert_eq!(first(libc::SYS_prctl, libc::PR_SET_SECCOMP), REJECT_VALUE);
    let thread = libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    assert_eq!(first(libc::SYS_clone, libc::SIGCHLD), ALLOW);
    assert_eq!(first(libc::SYS_clone, thread | libc::CLONE_FILES), ALLOW);
    assert_eq!(first(libc::SYS_clone, thread), REJECT);
    assert_eq!(first(libc::SYS_unshare, libc::CLONE_NEWNS), ALLOW);
    assert_eq!(first(libc::SYS_unshare, libc::CLONE_NEWUSER), REJECT);
    let option = |value| outcome(&program, libc::SYS_setsockopt, [3, 1, word(value), 0, 0, 0]);
    assert_eq!(option(libc::SO_PASSCRED), ALLOW);
    assert_eq!(option(libc::SO_SNDBUF), SUCCEED);
    assert_eq!(option(libc::SO_ATTACH_FILTER), SUCCEED);
    let closed = |flags: libc::c_uint| {
        outcome(
            &program,
            libc::SYS_close_range,
            [3, u64::from(u32::MAX), u64::from(flags), 0, 0, 0],
        )
    };
    assert_eq!(closed(0), ALLOW);
    assert_eq!(closed(libc::CLOSE_RANGE_CLOEXEC), ALLOW);
    for flags in [
        libc::CLOSE_RANGE_UNSHARE,
        libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC,
    ] {
        assert_eq!(closed(flags), REJECT_VALUE);
    }
    assert_eq!(outcome(&program, libc::SYS_fchmod, [0; 6]), SUCCEED);
    assert_eq!(outcome(&program, libc::SYS_setxattr, [0; 6]), REJECT);
}

#[test]
fn calls_on_others_are_refused_without_namespaces() {
    let program = program(Surroundings::Shared).unwrap();
    for number in [
        libc::SYS_pidfd_open,
        libc::SYS_ioprio_set,
        libc::SYS_unshare,
        libc::SYS_chroot,
        libc::SYS_io_uring_setup,
        libc::SYS_ptrace,
    ] {
        assert_eq!(outcome(&program, number, [0; 6]), UNKNOWN, "{number}");
    }
    for number in [
        libc::SYS_prlimit64,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
    ] {
        assert_eq!(outcome(&program, number, [0; 6]), ALLOW, "{number}");
        assert_eq!(outcome(&program, number, [7, 0, 0, 0, 0, 0]), UNKNOWN, "{number}");
    }
    let of_other = outcome(&program, libc::SYS_sched_setscheduler, [7, 0, 0, 0, 0, 0]);
    assert_eq!(of_other, SUCCEED);
    // Landlock does not cover these, and Parlor's files have the same owner.
    for number in [libc::SYS_fchmodat, libc::SYS_utimensat] {
        assert_eq!(outcome(&program, number, [0; 6]), SUCCEED, "{number}");
    }
    for number in [libc::SYS_fchownat, libc::SYS_setxattr] {
        assert_eq!(outcome(&program, number, [0; 6]), REJECT, "{number}");
    }
    assert_eq!(outcome(&program, libc::SYS_getxattr, [0; 6]), REJECT_UNSUPPORTED);
    // Until it is sealed.
    for number in [libc::SYS_seccomp, libc::SYS_bind, libc::SYS_connect] {
        assert_eq!(outcome(&program, number, [0; 6]), ALLOW, "{number}");
    }
}

#[test]
fn sealed_session_reaches_no_sockets_of_others() {
    let program = seal().unwrap();
    for number in [
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_seccomp,
        libc::SYS_setpriority,
    ] {
        assert_eq!(outcome(&program, number, [1; 6]), REJECT, "{number}");
    }
    let sent_to = |address| outcome(&program, libc::SYS_sendto, [3, 1, 1, 0, address, 0]);
    assert_eq!(sent_to(0), ALLOW);
    for address in [1, 1 << 32, u64::MAX] {
        assert_eq!(sent_to(address), REJECT, "{address:x}");
    }
    for number in [libc::SYS_read, libc::SYS_socketpair, libc::SYS_recvfrom] {
        assert_eq!(outcome(&program, number, [1; 6]), ALLOW, "{number}");
    }
}
