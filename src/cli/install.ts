import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { isCompiled } from '../base/carried.ts'
import { inheritOwner } from '../base/inherit-owner.ts'
import { reasonOf } from '../base/reason.ts'
import { Draft } from '../base/whole-file.ts'
import { readConfig } from '../config.ts'
import { requireNothingForeign } from '../db/data-dir.ts'
import { need, refuseEmpty } from './arguments.ts'
import { command } from './command.ts'
import { type Environment, pathsIn, settingsIn } from './installed.ts'
import { say } from './print.ts'
import { requireSystemd, requireVisible, unitText } from './unit.ts'
import { parseUnitSettings } from './unit-settings.ts'
import { writing } from './unwritable.ts'

const binary = '/usr/local/bin/steno'
const environmentFile = '/etc/steno.env'
const unitFile = '/etc/systemd/system/steno.service'

export const install = command({
  usage: 'steno install [--dry-run] [--data-dir /var/lib/steno] [--root DIR]',
  summary: 'Install this program as a systemd service with a user of its own.',
  options: { 'dry-run': { type: 'boolean' }, 'data-dir': { type: 'string' }, root: { type: 'string' } },
  help: {
    'dry-run': 'print the unit and do nothing',
    'data-dir': 'the data folder (the one in /etc/steno.env, or /var/lib/steno)',
    root: 'write the files below DIR, for an image, and start nothing',
  },
  async run(positionals, values) {
    need(positionals)
    refuseEmpty(values, 'root', 'data-dir')
    const root = values.root === undefined ? null : resolve(values.root)
    const below = (path: string) => join(root ?? '/', path)
    const dataDir = dataDirOf(below(environmentFile), values['data-dir'])
    // In a systemd unit, a space ends a path, and a percent sign starts a specifier. Only the characters below are
    // allowed.
    if (!/^[\w/.+-]+$/.test(dataDir)) throw new Error(`${dataDir}: letters, digits, and / . _ + - only`)
    requireVisible(dataDir, below)
    const unit = unitText({ binary, dataDir, environmentFile })
    if (values['dry-run']) {
      say(unit.trimEnd())
      return
    }
    if (!isCompiled()) throw new Error('a checkout cannot be installed: make build, then dist/steno install')
    if (root === null && process.getuid?.() !== 0) throw new Error('run it as root, or see --dry-run')
    if (root === null) requireSystemd()
    if (root === null) requireUsable(settingsIn(environmentFile), dataDir)
    requireNothingForeign(below(dataDir))

    // Every user may read the program and the unit, also if the umask of this user hides new files from others.
    process.umask(0o022)
    putSettings(below(environmentFile), dataDir)
    putProgram(process.execPath, below(binary))
    put(below(unitFile), unit, 0o644)
    if (root !== null) {
      say(`${root}: installed; it needs a user steno that owns ${dataDir}`)
      return
    }
    if (!succeeds('id', 'steno')) must('useradd', '--system', '--user-group', '--home-dir', dataDir, 'steno')
    must('install', '-d', '-m', '700', '-o', 'steno', '-g', 'steno', dataDir)
    // If root has run the program in this folder before, some files belong to root, and the service could not open
    // them. Gives all files to the owner of the folder.
    inheritOwner(dataDir)
    must('systemctl', 'daemon-reload')
    must('systemctl', 'enable', 'steno')
    start()
    say('steno runs; journalctl -u steno shows its address and, the first time, its API key')
  },
})

/**
 * Returns the data folder of the service. The settings file at `path` may name a folder from an earlier installation.
 * Throws if this folder differs from `wanted`. A systemd unit for `wanted` would let the service write only to
 * `wanted`, but the settings file would make the service use the other folder. A relative path in the settings file is
 * refused, because it would depend on the working folder of each program. An empty value is refused too: it would
 * replace the folder in the unit.
 */
function dataDirOf(path: string, wanted: string | undefined): string {
  const { STENO_DATA_DIR: kept } = settingsIn(path)
  if (kept === '') throw new Error(`${path} has STENO_DATA_DIR without a value: name the folder there`)
  if (kept && !isAbsolute(kept))
    throw new Error(`${path} names the data folder ${kept}: use an absolute path`)
  if (kept && wanted !== undefined && resolve(wanted) !== resolve(kept))
    throw new Error(`${path} names the data folder ${kept}: change it there, then install again`)
  return resolve(kept || wanted || '/var/lib/steno')
}

/**
 * Throws if a setting of the service with the data folder `dataDir` has a wrong value. Also throws if the systemd unit
 * hides a path in the settings from the service. The unit hides /home and /tmp, for example.
 */
export function requireUsable(settings: Environment, dataDir: string): void {
  const paths = pathsIn(settings, dataDir)
  readConfig({ ...settings, ...paths })
  for (const path of Object.values(paths)) requireVisible(path, own => own)
}

/**
 * Installs the program file `from` at the path `to`. A running program cannot be overwritten, so the copy is written
 * beside `to` and then renamed.
 */
function putProgram(from: string, to: string): void {
  if (from === to) return
  writing(to, () => {
    mkdirSync(dirname(to), { recursive: true })
    using draft = new Draft(to)
    copyFileSync(from, draft.path)
    chmodSync(draft.path, 0o755)
    draft.replace()
  })
}

function put(path: string, text: string, mode: number): void {
  writing(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  })
}

/**
 * Writes the settings file with the data folder of the service. Commands find the data folder through this file. An
 * existing file that names a data folder stays as it is. To any other existing file, the data folder is added.
 */
export function putSettings(path: string, dataDir: string): void {
  const line = `STENO_DATA_DIR=${dataDir}\n`
  if (!existsSync(path)) {
    const title = '# STENO_…=… settings; steno serve --help lists them. A comment needs a line of its own.'
    put(path, `${title}\n${line}`, 0o600)
    return
  }
  if (settingsIn(path).STENO_DATA_DIR !== undefined) return
  const added = `\n${line}`
  if (parseUnitSettings(`${readFileSync(path, 'utf8')}${added}`).STENO_DATA_DIR !== dataDir)
    throw new Error(`the last value in ${path} has no end: a quote or a line is missing`)
  writing(path, () => appendFileSync(path, added))
}

/** Starts the service. If it does not start, the error contains the last line of the service's log. */
function start(): void {
  try {
    must('systemctl', 'restart', 'steno')
  } catch (error) {
    const log = Bun.spawnSync(['journalctl', '-u', 'steno', '-t', 'steno', '-o', 'cat', '-n', '1'])
    throw new Error(`the service does not start: ${log.stdout.toString().trim() || reasonOf(error)}`)
  }
}

function succeeds(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}

function must(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString().trim()}`)
}
