// Returns the text of the server's systemd unit. It runs the server as a separate user with access to the GPU. This
// user may write only to the data folder and to private temporary folders.

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { usageCode, wrongSettingCode } from './failure.ts'

export type UnitPlace = { binary: string; dataDir: string; environmentFile: string }

/** The restrictions of the server process, as lines of a systemd unit. */
const protection = `ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @keyring @module @mount @obsolete @raw-io @reboot @swap
SystemCallFilter=~bpf userfaultfd io_uring_setup io_uring_enter io_uring_register
SystemCallErrorNumber=EPERM
ProtectProc=invisible
RemoveIPC=yes
UMask=0077
# Compiled JavaScript is memory that is written and then run, so MemoryDenyWriteExecute cannot be set. PrivateDevices
# would hide the GPUs; this policy allows them and no other device.
DevicePolicy=closed
DeviceAllow=char-nvidia* rw
DeviceAllow=char-drm rw`

/** The folders that the systemd unit hides from the service, with the line of the unit that hides them. */
const hidden = {
  '/home': 'ProtectHome',
  '/root': 'ProtectHome',
  '/run/user': 'ProtectHome',
  '/tmp': 'PrivateTmp',
  '/var/tmp': 'PrivateTmp',
}

/**
 * Throws if the systemd unit hides a file or a folder that the service needs. `below` converts a path of the installed
 * system to a path on this machine: with the option --root, the installed system is an image in a folder of this
 * machine.
 */
export function requireVisible(path: string, below: (own: string) => string): void {
  const real = realPathOf(below(path))
  for (const [folder, line] of Object.entries(hidden))
    if (`${real}/`.startsWith(`${realPathOf(below(folder))}/`))
      throw new Error(
        `${path}: ${line} in the unit hides ${folder} from the service; name a place elsewhere, such as /srv/steno`,
      )
}

/** Throws if this machine was not booted with systemd, which makes the folder `mark` at each boot. */
export function requireSystemd(mark = '/run/systemd/system'): void {
  if (existsSync(mark)) return
  throw new Error(
    'systemd does not run on this machine: start steno serve by other means, or write the files for an image with --root',
  )
}

/** Returns the path without symbolic links. The last parts of the path need not exist. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return join(realPathOf(dirname(path)), basename(path))
  }
}

export function unitText({ binary, dataDir, environmentFile }: UnitPlace): string {
  return `[Unit]
Description=steno, a transcription service
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart=${binary} serve
# A new version may have a large database to bring up to date.
TimeoutStartSec=15min
# A server that answers nothing for this long is started again.
WatchdogSec=120
User=steno
Group=steno
Environment=STENO_DATA_DIR=${dataDir}
EnvironmentFile=-${environmentFile}
WorkingDirectory=${dataDir}
Restart=on-failure
RestartSec=2
# A wrong flag or a wrong setting stays wrong until somebody changes it.
RestartPreventExitStatus=${usageCode} ${wrongSettingCode}
# Only the server gets the signal to stop; it ends its children itself.
KillMode=mixed
TimeoutStopSec=60
LimitNOFILE=65536
# An engine that runs out of memory fails its job, not the service.
OOMPolicy=continue
MemoryMax=90%

ReadWritePaths=${dataDir}
${protection}

[Install]
WantedBy=multi-user.target
`
}
