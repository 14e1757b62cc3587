// The system calls that the seccomp filter denies.

/**
 * The number of a system call: one number for both architectures, or a pair for x64 and arm64. Null means that arm64
 * does not have this call.
 */
export type Numbers = number | readonly [x64: number, arm64: number | null]

/** The system calls that the seccomp filter denies for all arguments, grouped by purpose. */
export const calls = {
  /** System calls that give access to the memory and the file descriptors of other processes. */
  inspection: {
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    process_madvise: 440,
    process_mrelease: 448,
    pidfd_getfd: 438,
    kcmp: [312, 272],
    perf_event_open: [298, 241],
  },
  /** System calls that change the kernel or the whole system, or use kernel parts that often had vulnerabilities. */
  kernel: {
    bpf: [321, 280],
    userfaultfd: [323, 282],
    io_uring_setup: 425,
    io_uring_enter: 426,
    io_uring_register: 427,
    add_key: [248, 217],
    request_key: [249, 218],
    keyctl: [250, 219],
    fanotify_init: [300, 262],
    init_module: [175, 105],
    finit_module: [313, 273],
    delete_module: [176, 106],
    kexec_load: [246, 104],
    kexec_file_load: [320, 294],
    reboot: [169, 142],
    swapon: [167, 224],
    swapoff: [168, 225],
    acct: [163, 89],
    syslog: [103, 116],
    personality: [135, 92],
    modify_ldt: [154, null],
    iopl: [172, null],
    ioperm: [173, null],
    settimeofday: [164, 170],
    adjtimex: [159, 171],
    clock_settime: [227, 112],
    clock_adjtime: [305, 266],
    sethostname: [170, 161],
    setdomainname: [171, 162],
    chroot: [161, 51],
    pivot_root: [155, 41],
    mount: [165, 40],
    umount2: [166, 39],
    open_tree: 428,
    move_mount: 429,
    fsopen: 430,
    fsconfig: 431,
    fsmount: 432,
    fspick: 433,
    mount_setattr: 442,
    open_tree_attr: 467,
    setns: [308, 268],
  },
} as const satisfies Record<string, Record<string, Numbers>>

const af = { unix: 1, netlink: 16 }

/** The ioctl requests TIOCSTI and TIOCLINUX. Both can insert input into the terminal. */
const terminalInput = [0x5412, 0x541c]

/**
 * A rule for a system call that is denied only for some values of one argument. `argument` is the argument's index from
 * 0. `only` has the allowed values, `not` has the denied values.
 */
export type Rule = { call: Numbers; argument: number } & (
  | { only: readonly number[] }
  | { not: readonly number[] }
)

export const rules: readonly Rule[] = [
  { call: [16, 29], argument: 1, not: terminalInput },
  { call: [41, 198], argument: 0, only: [af.unix, af.netlink] },
]

/**
 * The lowest system call number that the filter does not know. This number and all higher numbers fail with ENOSYS, as
 * in a kernel that does not have these calls. They include the calls of the x32 ABI on x64, whose numbers begin at
 * 0x40000000.
 */
export const firstUnknown = 470
