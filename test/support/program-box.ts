// A sandbox for the built program: only glibc, loopback as its only network, a read-only home folder, and no executable
// files in /tmp. On a machine that does not allow the sandbox, the program runs without it.

import { chmodSync, chownSync, copyFileSync, existsSync, linkSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

const isRoot = process.getuid?.() === 0
// `unshare -nm` makes namespaces (for the network and the mounts) in which root can become another user. Where this
// command does not work, the option `-r` is added. The process then has the rights of root in the namespaces, but it
// cannot become another user.
const unshare = ['unshare', isRoot && works(['unshare', '-nm', 'true']) ? '-nm' : '-rnm']

/** False if this machine does not allow the sandbox. */
export const mayChroot =
  works(['ldd', '/bin/sh']) && works([...unshare, 'sh', '-c', 'ip link set lo up && chroot / true'])

export const nobody = 65_534

/** True if the tests run as root, and this machine lets root start the program as the user `nobody`. */
export const becomesNobody = isRoot && (mayChroot ? unshare.includes('-nm') : works(['setpriv', '--version']))

/** Texts for the end of a test title: empty, or what this machine does not allow. */
export const unlessBoxed = mayChroot ? '' : ' (NOT in a sandbox: chroot is not allowed here)'
export const unlessNobody =
  !isRoot || becomesNobody ? '' : ' (NOT as another user than root: this is not allowed here)'

const enter = `
  ip link set lo up && mount --rbind /proc "$BOX/proc" && mount --rbind /dev "$BOX/dev" &&
  mount -t tmpfs -o mode=1777,noexec tmpfs "$BOX/tmp" &&
  mount --bind "$BOX/home" "$BOX/home" && mount -o remount,bind,ro "$BOX/home" && exec "$@"`

export class ProgramBox {
  readonly #program: string

  /**
   * Makes the sandbox. `root` becomes the working folder of the program. If this machine allows the sandbox, `root`
   * also becomes its root folder.
   */
  constructor(
    readonly root: string,
    program: string,
  ) {
    this.#program = program
    for (const name of ['proc', 'dev', 'tmp', 'home', 'opt']) mkdirSync(join(root, name), { recursive: true })
    linkSync(program, join(root, 'opt/steno'))
    if (mayChroot) for (const path of glibcOf(program)) this.copy(path, path)
    if (!becomesNobody) return
    chmodSync(dirname(root), 0o755)
    chownSync(root, nobody, nobody)
  }

  /** Returns the path of a file on this machine. `path` is the path of the same file in the sandbox. */
  outside(path: string): string {
    return mayChroot ? join(this.root, path) : path
  }

  copy(from: string, to: string): void {
    mkdirSync(dirname(this.outside(to)), { recursive: true })
    copyFileSync(from, this.outside(to))
  }

  /** Creates a folder. `path` is its path in the sandbox. */
  makeFolder(path: string): string {
    mkdirSync(this.outside(path), { recursive: true })
    return path
  }

  /**
   * Runs a command in the namespaces of the sandbox. Only a command from `command()` is limited to the files of the
   * sandbox. Any other command sees all files of this machine.
   */
  run(words: string[]): { exitCode: number; out: string; err: string } {
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      mayChroot ? [...unshare, 'sh', '-c', enter, 'sh', ...words] : words,
      { cwd: this.root, env: { PATH: process.env.PATH ?? '', BOX: this.root } },
    )
    return { exitCode, out: stdout.toString(), err: stderr.toString() }
  }

  /**
   * Returns the command that starts the program. Use the command only inside `run`, or in a program that `run` starts:
   * in the sandbox, the command changes its root folder (chroot). This needs the rights of root, and a process that
   * `run` starts has them.
   */
  command({ asNobody = false } = {}): string[] {
    const become = asNobody && becomesNobody
    if (mayChroot) {
      const user = become ? [`--userspec=+${nobody}:+${nobody}`, '--groups='] : []
      return [find('chroot'), ...user, this.root, '/opt/steno']
    }
    const user = [find('setpriv'), `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
    return [...(become ? user : []), this.#program]
  }
}

/** Returns the paths of glibc's libraries and of its loader. */
function glibcOf(program: string): string[] {
  const linked = Bun.spawnSync(['ldd', program]).stdout.toString()
  const [, folder = ''] = /\s(\/\S+)\/libc\.so\.6\s/.exec(linked) ?? []
  const [, loader = ''] = /\s(\/\S+ld-linux\S+)\s/.exec(linked) ?? []
  const names = ['libc.so.6', 'libm.so.6', 'libmvec.so.1', 'libdl.so.2', 'librt.so.1', 'libpthread.so.0']
  return [loader, ...names.map(name => join(folder, name)).filter(existsSync)]
}

function find(name: string): string {
  return Bun.which(name) ?? name
}

/** Returns true if this machine has the command, and the command exits with status 0. */
export function works(command: string[]): boolean {
  if (Bun.which(command[0]!) === null) return false
  return Bun.spawnSync(command).exitCode === 0
}
