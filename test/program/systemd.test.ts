// Installs the built program as a service under a real systemd in a container. The container sees the files of this
// machine. Its changes outside the test folder are lost at the end.

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeProgram } from '../support/built-program.ts'
import { blocksOf, readDocument } from '../support/documents.ts'
import { temporaryFolderOnDisk } from '../support/folder.ts'

const root = join(import.meta.dir, '../..')
const box = join(root, 'test/support/systemd-box.sh')
const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
const mayBoot =
  process.getuid?.() === 0 &&
  existsSync('/lib/systemd/systemd') &&
  / cgroup2 /.test(mounts) &&
  readFileSync('/proc/filesystems', 'utf8').includes('overlay') &&
  Bun.which('jq') !== null &&
  Bun.spawnSync(['unshare', '--pid', '--fork', '--mount', '--cgroup', '--net', 'true']).exitCode === 0

/** The timeout of the container with systemd, in milliseconds. The whole test takes half a minute. */
const boxMs = 240_000

/** Returns the first block of commands in docs/admin.md that begins with `start`. */
function findBlock(start: string): string {
  return blocksOf(readDocument('docs/admin.md')).find(block => block.startsWith(start)) ?? ''
}

/** The shell commands that run in the container with systemd. Most lines of `expected` come from an `echo` here. */
const steps = `
  trap 'echo "failed: $BASH_COMMAND" >&2' ERR
  printf 'STENO_DATA_DIR=/var/lib/steno\\nSTENO_MODEL=pocket\\nSTENO_DISK_RESERVE=1MB\\n' >/etc/steno.env
  # Simulates that root has already run the program in the data folder: these files in the folder belong to root.
  install -d /var/lib/steno /var/lib/steno/uploads && touch /var/lib/steno/serve.lock
  for setting in STENO_MAX_DURATION=long STENO_MODEL=/home/x STENO_MODEL=bsae; do
    echo "$setting" >>/etc/steno.env
    echo "not installed: $(/box/steno install 2>&1 || echo "code $?")"
    sed -i '$d' /etc/steno.env
  done
  /box/steno install >/dev/null
  # The output of the service may come into the journal a moment after the service is ready.
  until key=$(journalctl -u steno -o cat | grep -o 'sk_live_[^ ]*'); do sleep 0.1; done
  api() { curl -sSf "localhost:8080/v1/$1" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "\${@:2}"; }
  state() { systemctl show steno -p "$1" --value; }
  readers() { ${findBlock('journalctl').replace('ID', () => `'"$id"'`)}; }
  upload=$(api upload -d '{"filename": "talk.flac"}')
  curl -sSf -X PUT "$(jq -r .upload_url <<<"$upload")" -H 'Content-Type: audio/flac' --data-binary @/box/talk.flac >/dev/null
  id=$(api transcribe -d "{\\"upload_id\\": $(jq .upload_id <<<"$upload")}" | jq -r .id)
  until api "transcribe/$id?wait=60" | jq -e '.status != "processing" and .status != "pending"' >/dev/null; do :; done
  echo "text: $(api "transcribe/$id?format=text")"
  echo "user: $(stat -c %U /proc/$(state MainPID)) and $(stat -c '%U %a' /var/lib/steno/steno.db)"
  echo "not of steno: $(find /var/lib/steno ! -user steno)"
  echo "verified: $(systemd-analyze verify /etc/systemd/system/steno.service 2>&1)"
  echo "doctor: $(steno doctor | grep -c '^BAD' || true) bad"
  echo "read: $(readers | jq -s '.[0].status')"

  # Nothing is transcribed from here on, so STENO_MODEL names a folder without a model. From the next start on, systemd
  # restarts the service if the service sends no watchdog message for two seconds (WatchdogSec). By default, systemd
  # refuses the sixth start of a service in ten seconds. StartLimitIntervalSec=0 removes this limit.
  sed -i 's,^STENO_MODEL=.*,STENO_MODEL=/var/lib/steno,' /etc/steno.env
  mkdir -p /run/systemd/system/steno.service.d
  printf '[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nWatchdogSec=2\\nRestartSec=100ms\\n' >/run/systemd/system/steno.service.d/test.conf
  systemctl daemon-reload
  again() { for _ in $(seq 600); do [ "$(state NRestarts)" = "$1" ] && curl -sf localhost:8080/v1/health >/dev/null && return; sleep 0.1; done; }
  kill -KILL "$(state MainPID)"
  again 1
  echo "killed: $(state NRestarts) restart, $(api "transcribe/$id?format=text")"

  kill -STOP "$(state MainPID)"
  again 2
  echo "stopped answering: $(state NRestarts) restarts"

  # Another program: a byte of the ELF header that has no meaning differs.
  cp /box/steno /root/steno && printf '\\1' | dd of=/root/steno bs=1 seek=15 conv=notrunc status=none
  steno upgrade --from /root/steno --unsigned >/dev/null
  systemctl stop steno
  echo "stopped: $(state Result), code $(state ExecMainStatus)"
  systemctl start steno
  echo "upgraded: $(state ActiveState), $(api "transcribe/$id?format=text")"

  # With a wrong setting, or a port that only root may use, systemd does not start the service again.
  for setting in STENO_MAX_DURATION=long STENO_MODEL=/home/x STENO_PORT=80; do
    echo "$setting" >>/etc/steno.env
    systemctl restart steno 2>/dev/null || true
    echo "$setting: $(state ActiveState), code $(state ExecMainStatus)"
    sed -i '$d' /etc/steno.env
  done
  systemctl restart steno
`

/**
 * The expected output of the whole script. The last lines come from the commands after `steps`. These commands move the
 * service to another machine, start a second service, move the data folder of the first service to another place, and
 * remove the first service.
 */
const expected = `not installed: steno: STENO_MAX_DURATION=long: a duration such as 250ms, 2s, 30m, 24h or 7d is needed
code 78
not installed: steno: /home/x: ProtectHome in the unit hides /home from the service; name a place elsewhere, such as /srv/steno
code 1
not installed: steno: the service does not start: steno: STENO_MODEL=bsae is neither a known model nor a folder; the nearest known model is base
code 1
text: If it is cloudy this evening, we will stay at home.
user: steno and steno 600
not of steno: 
verified: 
doctor: 0 bad
read: 200
killed: 1 restart, If it is cloudy this evening, we will stay at home.
stopped answering: 2 restarts
stopped: success, code 0
upgraded: active, If it is cloudy this evening, we will stay at home.
STENO_MAX_DURATION=long: failed, code 78
STENO_MODEL=/home/x: failed, code 78
STENO_PORT=80: failed, code 78
steno runs; journalctl -u steno shows its address and, the first time, its API key
other machine: steno, If it is cloudy this evening, we will stay at home.
second: ok, STENO_DATA_DIR=/var/lib/steno-two
steno runs; journalctl -u steno shows its address and, the first time, its API key
moved: If it is cloudy this evening, we will stay at home.
removed: inactive, 2 files gone
`

test.skipIf(!mayBoot)(
  `the installed service runs, restarts, upgrades and is removed under systemd${mayBoot ? '' : ' (SKIPPED: no jq, or systemd cannot be started here)'}`,
  () => {
    const folder = temporaryFolderOnDisk()
    placeProgram(join(folder, 'steno'))
    copyFileSync(join(root, 'test/fixtures/speech/doctor.flac'), join(folder, 'talk.flac'))
    const [second, move, pack, unpack, removal] = [
      'sed ',
      'systemctl stop',
      'systemctl disable --now steno\ntar',
      'tar -xf',
      'systemctl disable --now steno\nrm',
    ].map(findBlock)
    const another =
      'echo "second: $(STENO_ENV_FILE=/etc/steno-two.env steno health), $(systemctl show steno-two -p Environment --value)"; systemctl stop steno-two'
    const other =
      'echo "other machine: $(stat -c %U /var/lib/steno/steno.db), $(api "transcribe/$id?format=text")"'
    const unmoved = 'sed -i s,^STENO_MODEL=.*,STENO_MODEL=/srv, /etc/steno.env'
    const moved = 'echo "moved: $(api "transcribe/$id?format=text")"'
    const after =
      'echo "removed: $(state ActiveState), $(find /var/lib/steno /etc/steno.env 2>&1 | grep -c "No such") files gone"'
    writeFileSync(
      join(folder, 'script'),
      [
        steps,
        'cd /root',
        pack,
        removal,
        unpack,
        other,
        second,
        another,
        unmoved,
        move,
        moved,
        removal,
        after,
      ].join('\n'),
    )
    // With `setpriv`, the kernel also ends the container if this test process is killed.
    const command = ['setpriv', '--pdeathsig', 'TERM', box, folder]
    const { stderr, exitedDueToTimeout } = Bun.spawnSync(command, { timeout: boxMs })
    const written = (name: string) => readFileSync(join(folder, name), 'utf8')
    const ended = exitedDueToTimeout ? `ended after ${boxMs} ms` : 'by itself'
    expect([ended, `${stderr}`, written('out'), written('err')]).toEqual([
      'by itself',
      '',
      expected,
      expect.any(String),
    ])
  },
  300_000,
)
