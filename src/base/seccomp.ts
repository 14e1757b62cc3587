// A seccomp filter of system calls, for a process that handles untrusted data. The filter permanently denies the listed
// system calls to every thread of the process. A denied call fails with the error EPERM, or with ENOSYS where a comment
// says so. The process then continues.

import { ptr } from 'bun:ffi'
import { systemCall } from './libc.ts'

/**
 * The numbers of a system call. A pair has the number on x64 and the number on arm64. The number on arm64 is null if
 * arm64 does not have this call. A single number applies to both architectures.
 */
type Numbers = number | readonly [x64: number, arm64: number | null]
type Machine = 'x64' | 'arm64'

/** The system calls that the filter denies, grouped by purpose. */
const calls = {
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
  /**
   * System calls that change the kernel itself, or give access to parts of the kernel that often had vulnerabilities.
   */
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
 * A rule for a system call that the filter denies only for some values of one argument. `argument` is the index of this
 * argument, counted from 0. With `only`, the call is allowed for the listed values, and denied for all other values.
 * With `not`, the call is denied for the listed values, and allowed for all other values.
 */
type Rule = { call: Numbers; argument: number } & ({ only: readonly number[] } | { not: readonly number[] })

const rules: readonly Rule[] = [
  { call: [16, 29], argument: 1, not: terminalInput },
  { call: [41, 198], argument: 0, only: [af.unix, af.netlink] },
]

const eperm = 1
const enosys = 38
/**
 * System calls with this number or a higher one are newer than the lists above. The filter denies all of them with
 * ENOSYS, the error of a kernel that does not have the call.
 */
const firstUnknown = 470
/** The first system call number of the x32 ABI, a second set of system calls on x64. */
const x32 = 0x40000000

/** Offsets, in bytes, of the fields in the structure by which the kernel describes a system call to the filter. */
const field = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index }
const instruction = { load: 0x20, ifEqual: 0x15, ifAtLeast: 0x35, answer: 0x06 }
const verdict = { allow: 0x7fff0000, kill: 0x80000000, fail: (errno: number) => 0x00050000 | errno }
/** The numbers by which the kernel names the processor architecture of a process. */
const machines = { x64: 0xc000003e, arm64: 0xc00000b7 }

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

/** Returns true if this kernel supports seccomp filters. */
export function canDenyCalls(): boolean {
  const askForAnswer = 2
  const failing = new Uint32Array([verdict.fail(0)])
  return machineOf(process.arch) !== null && systemCall('seccomp', askForAnswer, 0, ptr(failing)) === 0
}

/**
 * Denies the listed system calls to all threads of this process, permanently. Returns false if the kernel does not
 * support seccomp filters.
 */
export function denyCalls(): boolean {
  const machine = machineOf(process.arch)
  if (!machine) return false
  const program = filterProgram(machine)
  // The kernel's structure sock_fprog holds the number of instructions of the filter, and the address of the
  // instructions.
  const head = new BigUint64Array([BigInt(program.length / 8), BigInt(ptr(program))])
  const setFilter = 1
  const onAllThreads = 1
  return systemCall('seccomp', setFilter, onAllThreads, ptr(head)) === 0
}

function machineOf(architecture: string): Machine | null {
  return architecture === 'x64' || architecture === 'arm64' ? architecture : null
}

function filterProgram(machine: Machine): Uint8Array {
  const numberOf = (call: Numbers) => (typeof call === 'number' ? call : call[machine === 'x64' ? 0 : 1])
  const denied = Object.values(calls)
    .flatMap(group => Object.values<Numbers>(group))
    .map(numberOf)
  const program: Instruction[] = [
    [instruction.load, 0, 0, field.machine],
    [instruction.ifEqual, 1, 0, machines[machine]],
    answer(verdict.kill),
    [instruction.load, 0, 0, field.number],
    ...unless(instruction.ifAtLeast, x32, verdict.fail(enosys)),
    ...unless(instruction.ifAtLeast, firstUnknown, verdict.fail(enosys)),
    ...denied
      .filter(number => number !== null)
      .flatMap(number => unless(instruction.ifEqual, number, verdict.fail(eperm))),
    ...rules.flatMap(rule => ruleProgram(rule, numberOf(rule.call))),
    answer(verdict.allow),
  ]
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value >>> 0, true)
  }
  return bytes
}

/**
 * Returns the filter instructions for one rule. If a system call is not the call of this rule, the filter skips these
 * instructions.
 */
function ruleProgram(rule: Rule, number: number | null): Instruction[] {
  if (number === null) return []
  const denied = verdict.fail(eperm)
  const tests: Instruction[] =
    'only' in rule
      ? [...rule.only.flatMap(value => unless(instruction.ifEqual, value, verdict.allow)), answer(denied)]
      : [...rule.not.flatMap(value => unless(instruction.ifEqual, value, denied)), answer(verdict.allow)]
  return [
    [instruction.ifEqual, 0, tests.length + 1, number],
    [instruction.load, 0, 0, field.argument(rule.argument)],
    ...tests,
  ]
}

/**
 * Returns instructions that end the filter with the answer `given` if the test is true. Otherwise the filter
 * continues after these instructions.
 */
function unless(test: number, value: number, given: number): Instruction[] {
  return [[test, 0, 1, value], answer(given)]
}

function answer(given: number): Instruction {
  return [instruction.answer, 0, 0, given]
}
