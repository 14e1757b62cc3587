// A simulated media child that an attacker controls. It attempts every forbidden action of a process, and
// prints the outcome of each attempt.

import { dlopen, ptr } from 'bun:ffi'
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { confine } from '../../src/media/child/confine.ts'

const { order, folder, port } = JSON.parse(process.argv.at(-1) ?? '')
const server: number = order.parent
const inFolder = (name: string) => join(folder, name)
const outcomes: Record<string, string> = {}

// All libraries are loaded here, before the process is confined: later it may not open files.
const number = { args: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' } as const
const { symbols: libc } = dlopen('libc.so.6', {
  open: number,
  openat: number,
  creat: number,
  truncate: number,
  rename: number,
  renameat2: number,
  unlink: number,
  link: number,
  symlink: number,
  mkdir: number,
  rmdir: number,
  mkfifo: number,
  chmod: number,
  chown: number,
  utimensat: number,
  setxattr: number,
  readlink: number,
  execve: number,
  fork: number,
  kill: number,
  tgkill: number,
  pidfd_open: number,
  setpriority: number,
  sched_setaffinity: number,
  prlimit: number,
  ptrace: number,
  process_vm_readv: number,
  process_vm_writev: number,
  socket: number,
  socketpair: number,
  shmget: number,
  mq_open: number,
  unshare: number,
  setns: number,
  mount: number,
  chroot: number,
  ioctl: number,
  prctl: number,
  syscall: number,
})
const text = (value: string) => ptr(Buffer.from(`${value}\0`))
const thread = await startThread()
const room = ptr(new BigUint64Array(8))

confine(order)

const read = 0
const create = 0o102
const calls: Record<string, () => bigint> = {
  open: () => libc.open(text(inFolder('secret.key')), read, 0, 0, 0, 0),
  'open to create': () => libc.open(text(inFolder('new')), create, 0o600, 0, 0, 0),
  openat: () => libc.openat(-100, text(inFolder('steno.db')), read, 0, 0, 0),
  creat: () => libc.creat(text(inFolder('new')), 0o600, 0, 0, 0, 0),
  truncate: () => libc.truncate(text(inFolder('media/video')), 0, 0, 0, 0, 0),
  rename: () => libc.rename(text(inFolder('media/video')), text(inFolder('new')), 0, 0, 0, 0),
  renameat2: () => libc.renameat2(-100, text(inFolder('steno.db')), -100, text(inFolder('new')), 0, 0),
  unlink: () => libc.unlink(text(inFolder('media/video')), 0, 0, 0, 0, 0),
  link: () => libc.link(text(inFolder('secret.key')), text(inFolder('new')), 0, 0, 0, 0),
  symlink: () => libc.symlink(text('/etc/passwd'), text(inFolder('new')), 0, 0, 0, 0),
  mkdir: () => libc.mkdir(text(inFolder('new')), 0o700, 0, 0, 0, 0),
  rmdir: () => libc.rmdir(text(inFolder('media')), 0, 0, 0, 0, 0),
  mkfifo: () => libc.mkfifo(text(inFolder('new')), 0o600, 0, 0, 0, 0),
  chmod: () => libc.chmod(text(inFolder('secret.key')), 0o777, 0, 0, 0, 0),
  chown: () => libc.chown(text(inFolder('secret.key')), 1, 1, 0, 0, 0),
  utimensat: () => libc.utimensat(-100, text(inFolder('secret.key')), 0, 0, 0, 0),
  setxattr: () => libc.setxattr(text(inFolder('steno.db')), text('user.a'), text('b'), 1, 0, 0),
  readlink: () => libc.readlink(text('/proc/self/exe'), room, 64, 0, 0, 0),
  execve: () => libc.execve(text('/bin/sh'), 0, 0, 0, 0, 0),
  fork: () => endIfChild(libc.fork(0, 0, 0, 0, 0, 0)),
  kill: () => libc.kill(server, 0, 0, 0, 0, 0),
  tgkill: () => libc.tgkill(server, server, 0, 0, 0, 0),
  pidfd_open: () => libc.pidfd_open(server, 0, 0, 0, 0, 0),
  setpriority: () => libc.setpriority(0, server, 19, 0, 0, 0),
  sched_setaffinity: () => libc.sched_setaffinity(server, 8, ptr(new BigUint64Array([1n])), 0, 0, 0),
  'prlimit of the server': () => libc.prlimit(server, 7, 0, room, 0, 0),
  ptrace: () => libc.ptrace(16, server, 0, 0, 0, 0),
  process_vm_readv: () => libc.process_vm_readv(server, room, 1, room, 1, 0),
  process_vm_writev: () => libc.process_vm_writev(server, room, 1, room, 1, 0),
  'TCP socket': () => libc.socket(2, 1, 0, 0, 0, 0),
  'UDP socket': () => libc.socket(2, 2, 0, 0, 0, 0),
  'IPv6 socket': () => libc.socket(10, 1, 0, 0, 0, 0),
  'unix socket': () => libc.socket(1, 1, 0, 0, 0, 0),
  'netlink socket': () => libc.socket(16, 3, 0, 0, 0, 0),
  socketpair: () => libc.socketpair(1, 1, 0, room, 0, 0),
  shmget: () => libc.shmget(0x5354, 4096, 0o1600, 0, 0, 0),
  mq_open: () => libc.mq_open(text('/steno'), create, 0o600, 0, 0, 0),
  'unshare user': () => libc.unshare(0x10000000, 0, 0, 0, 0, 0),
  setns: () => libc.setns(0, 0, 0, 0, 0, 0),
  mount: () => libc.mount(text('none'), text(folder), text('tmpfs'), 0, 0, 0),
  chroot: () => libc.chroot(text(folder), 0, 0, 0, 0, 0),
  'input of the terminal': () => libc.ioctl(2, 0x5412, text('x'), 0, 0, 0),
  'outlive the server': () => libc.prctl(1, 0, 0, 0, 0, 0),
  io_uring_setup: () => libc.syscall(425, 1, ptr(new Uint8Array(120)), 0, 0, 0),
  openat2: () => libc.syscall(437, -100, text(inFolder('secret.key')), ptr(new BigUint64Array(3)), 24, 0),
  clone3: () => libc.syscall(435, ptr(new BigUint64Array(11)), 88, 0, 0, 0),
  'a call of the future': () => libc.syscall(1000, 0, 0, 0, 0, 0),
}
for (const [name, call] of Object.entries(calls)) outcomes[name] = verdictOf(call())
const functions: Record<string, () => unknown> = {
  'read secret.key': () => fs.readFileSync(inFolder('secret.key')),
  'read the database': () => fs.readFileSync(inFolder('steno.db')),
  'list the data folder': () => fs.readdirSync(folder),
  'list /': () => fs.readdirSync('/'),
  'read the environment of the server': () => fs.readFileSync(`/proc/${server}/environ`),
  'read the memory map of the server': () => fs.readFileSync(`/proc/${server}/maps`),
  'open the memory of the server': () => fs.openSync(`/proc/${server}/mem`, 'r+'),
  'open its own file again': () => fs.openSync('/proc/self/fd/0', 'r'),
  'write a file': () => fs.writeFileSync(inFolder('new'), 'x'),
  'start a shell': () => execFileSync('/bin/sh', ['-c', 'echo x']),
  'signal the server': () => process.kill(server, 0),
}
for (const [name, work] of Object.entries(functions)) outcomes[name] = await outcomeOf(async () => work())

Object.assign(outcomes, await thread.tryAll())
outcomes['connect by TCP'] = await outcomeOf(
  () => new Promise((resolve, reject) => connect(port, '127.0.0.1', () => resolve(1)).on('error', reject)),
)
outcomes['send by UDP'] = await outcomeOf(
  () =>
    new Promise((resolve, reject) => {
      const socket = createSocket('udp4').on('error', reject)
      socket.send('x', port, '127.0.0.1', error => (error ? reject(error) : resolve(1)))
    }),
)
outcomes.fetch = await outcomeOf(() => fetch(`http://127.0.0.1:${port}/`))
fs.writeSync(1, JSON.stringify(outcomes))
process.exit(0)

/**
 * Returns whether a system call was refused. Most of the called functions return 32 bits, so only 32 bits are
 * compared with -1.
 */
function verdictOf(answer: bigint): string {
  return BigInt.asIntN(32, answer) === -1n ? 'refused' : `answered ${answer}`
}

async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    () => 'done',
    () => 'refused',
  )
}

/**
 * Exits if this process is the child of a successful fork: `id` is then 0. Otherwise the child would print a
 * second report.
 */
function endIfChild(id: bigint): bigint {
  if (id === 0n) process.exit(0)
  return id
}

/** Starts a thread before the process is confined. The thread attempts system calls later. */
async function startThread(): Promise<{ tryAll(): Promise<Record<string, string>> }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const { dlopen, ptr } = require('bun:ffi')
     const number = { args: ['i64', 'i64', 'i64', 'i64'], returns: 'i64' }
     const { symbols } = dlopen('libc.so.6', { openat: number, socket: number, kill: number })
     const path = Buffer.from(${JSON.stringify(`${inFolder('secret.key')}\0`)})
     parentPort.on('message', () => parentPort.postMessage({
       openat: Number(symbols.openat(-100, ptr(path), 0, 0)),
       socket: Number(symbols.socket(2, 1, 0, 0)),
       kill: Number(symbols.kill(${server}, 0, 0, 0)),
     }))
     parentPort.postMessage('ready')`,
    { eval: true },
  )
  await once(worker, 'message')
  return {
    async tryAll() {
      const answered = once(worker, 'message')
      worker.postMessage('go')
      const [answers] = (await answered) as [Record<string, number>]
      return Object.fromEntries(
        Object.entries(answers).map(([name, answer]) => [`${name} in a thread`, verdictOf(BigInt(answer))]),
      )
    },
  }
}
