"""What calls of the system are called that are not offered, for those who are told that a program made them."""

from __future__ import annotations

_RUNS = {
    0: (
        "io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr getxattr "
        "lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr"
    ),
    18: "lookup_dcookie eventfd2 epoll_create1 epoll_ctl epoll_pwait",
    26: "inotify_init1 inotify_add_watch inotify_rm_watch", 30: "ioprio_set ioprio_get",
    39: "umount2 mount pivot_root nfsservctl", 51: "chroot", 58: "vhangup",
    60: "quotactl", 74: "signalfd4 vmsplice splice tee",
    84: "sync_file_range timerfd_create timerfd_settime timerfd_gettime", 89: "acct capget capset",
    97: "unshare", 100: "get_robust_list",
    102: (
        "getitimer setitimer kexec_load init_module delete_module timer_create timer_gettime "
        "timer_getoverrun timer_settime timer_delete clock_settime"
    ),
    116: (
        "syslog ptrace sched_setparam sched_setscheduler sched_getscheduler sched_getparam "
        "sched_setaffinity"
    ),
    125: "sched_get_priority_max sched_get_priority_min sched_rr_get_interval restart_syscall",
    138: (
        "rt_sigqueueinfo rt_sigreturn setpriority getpriority reboot "
        "setregid setgid setreuid setuid setresuid"
    ),
    149: "setresgid", 151: "setfsuid setfsgid",
    154: "setpgid", 157: "setsid", 159: "setgroups", 161: "sethostname setdomainname", 164: "setrlimit",
    170: "settimeofday adjtimex",
    180: (
        "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget msgctl msgrcv "
        "msgsnd semget semctl semtimedop semop shmget shmctl shmat shmdt socket socketpair bind listen "
        "accept connect getsockname getpeername sendto recvfrom setsockopt getsockopt shutdown sendmsg "
        "recvmsg readahead"
    ),
    217: "add_key request_key keyctl clone execve", 224: "swapon swapoff",
    228: "mlock munlock mlockall munlockall mincore",
    234: (
        "remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages move_pages rt_tgsigqueueinfo "
        "perf_event_open accept4 recvmmsg"
    ),
    262: (
        "fanotify_init fanotify_mark name_to_handle_at open_by_handle_at clock_adjtime syncfs setns "
        "sendmmsg process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr"
    ),
    277: "seccomp", 279: "memfd_create bpf execveat userfaultfd",
    284: "mlock2", 286: "preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free", 292: "io_pgetevents",
    294: "kexec_file_load",
    424: (
        "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen "
        "fsconfig fsmount fspick pidfd_open clone3"
    ),
    437: "openat2 pidfd_getfd",
    440: (
        "process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule "
        "landlock_restrict_self memfd_secret process_mrelease futex_waitv set_mempolicy_home_node"
    ),
}  # fmt: skip
"""Names by the number of the first; those behind it have the numbers that follow."""

NAMES = {first + at: name for first, names in _RUNS.items() for at, name in enumerate(names.split())}
"""By number."""


def shown_call(number: int) -> str:
    """A call as people know it, with its number; of one that has no name, the number alone."""
    return f"{NAMES[number]} ({number})" if number in NAMES else str(number)
