// Tests the files in deploy/, the Containerfile, the systemd unit, and the error message of the Makefile if it cannot
// fetch Bun. Checks whose tool is not installed (promtool, systemd-analyze) are skipped.

import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { metricNames } from '../src/base/metric-names.ts'
import { commands } from '../src/cli/commands.ts'
import { unitText } from '../src/cli/unit.ts'
import { settings } from '../src/config/settings.ts'
import { temporaryFolder } from './support/folder.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const settingNames: string[] = Object.values(settings).map(({ variable }) => variable)

/** Returns the metrics that the text names and the program does not have. */
function unknownMetrics(text: string): string[] {
  const named = text.match(/\b(?:steno|process)_[a-z_]+/g) ?? []
  const known: string[] = metricNames
  return [...new Set(named)].filter(
    name => !known.includes(name.replace(/_(bucket|sum|count)$/, '')) && !known.includes(name),
  )
}

test('alerts, dashboard and guide name only metrics that the program has', () => {
  for (const path of ['deploy/prometheus-alerts.yml', 'deploy/grafana-dashboard.json', 'docs/admin.md'])
    expect([path, unknownMetrics(read(path))]).toEqual([path, []])
  expect(unknownMetrics('rate(steno_jobs_done_total[5m]) + steno_job_wait_seconds_bucket')).toEqual([
    'steno_jobs_done_total',
  ])
})

const promtool = Bun.which('promtool')
test.skipIf(!promtool)(
  `promtool accepts the alert rules${promtool ? '' : ' (SKIPPED: no promtool here)'}`,
  () => {
    const { exitCode, stdout } = Bun.spawnSync([
      promtool!,
      'check',
      'rules',
      join(root, 'deploy/prometheus-alerts.yml'),
    ])
    expect([exitCode, `${stdout}`]).toEqual([0, expect.stringContaining('SUCCESS')])
  },
)

type Panel = {
  id: number
  title: string
  type: string
  options: object
  gridPos: Record<'h' | 'w' | 'x' | 'y', number>
  targets: { expr: string; refId: string }[]
}

test('the dashboard has panels that do not overlap, each with a query on the chosen data source', () => {
  const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
    title: string
    schemaVersion: number
    panels: Panel[]
    templating: { list: { name: string; query: unknown }[] }
  }
  expect(dashboard).toMatchObject({ title: 'steno', schemaVersion: expect.any(Number) })
  expect(dashboard.templating.list.map(({ name, query }) => [name, query])).toEqual([
    ['datasource', 'prometheus'],
    ['instance', 'label_values(steno_build_info, instance)'],
  ])
  const version = dashboard.panels.find(({ title }) => title === 'Version')
  // The metric `steno_build_info` has the version as a label, and its value is always 1. The panel must show the label.
  expect(version?.options).toMatchObject({ textMode: 'name' })
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
  expect(new Set(places).size).toBe(places.length)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(places.length)
  for (const { title, targets, gridPos } of dashboard.panels) {
    expect(title).not.toBe('')
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (const { expr } of targets) expect(expr).toContain('$instance')
  }
})

test('the container runs a user without rights, and its health check and settings exist', () => {
  const file = read('Containerfile')
  expect(file).toMatch(/^USER 10001:10001$/m)
  const [, health = ''] = /^HEALTHCHECK .* CMD \["steno", "(\w+)"\]$/m.exec(file) ?? []
  expect(Object.keys(commands)).toContain(health)
  const named = [...`${file}\n${read('deploy/compose.yaml')}`.matchAll(/\b(STENO_[A-Z_]+)\b/g)].map(
    ([, name]) => name!,
  )
  expect(named.filter(name => !settingNames.includes(name))).toEqual([])
})

test('the container has an init process, which removes the child processes of an engine that is killed', () => {
  const file = read('Containerfile')
  expect(file).toMatch(/^RUN apt-get .* install .*\btini\b/m)
  expect(file).toMatch(/^ENTRYPOINT \["tini", "--", "steno"\]$/m)
})

test('both services of the compose file are read-only, without capabilities, and not root', () => {
  const { services, volumes } = Bun.YAML.parse(read('deploy/compose.yaml')) as {
    services: Record<string, Record<string, unknown>>
    volumes: object
  }
  expect(Object.values(services).map(({ profiles }) => profiles)).toEqual([['cpu'], ['gpu']])
  for (const service of Object.values(services))
    expect(service).toMatchObject({
      read_only: true,
      user: '10001:10001',
      cap_drop: ['ALL'],
      volumes: ['steno:/data'],
    })
  expect(Object.keys(volumes)).toEqual(['steno'])
  // On a GPU, the program needs CUDA 13 and cuDNN 9. Debian's image has neither, but this image of NVIDIA has both.
  expect(services['steno-gpu']).toMatchObject({
    image: 'steno-gpu',
    build: { args: { BASE: expect.stringMatching(/nvidia\/cuda:13\.\S+-cudnn-runtime-/) } },
  })
})

const analyze = Bun.which('systemd-analyze')
test.skipIf(!analyze)(
  `systemd rates the exposure of the unit at 2.0 or less${analyze ? '' : ' (SKIPPED: no systemd-analyze here)'}`,
  async () => {
    const unit = join(temporaryFolder(), 'steno.service')
    await Bun.write(
      unit,
      unitText({ binary: process.execPath, dataDir: '/var/lib/steno', environmentFile: '/etc/steno.env' }),
    )
    const { stdout } = Bun.spawnSync([analyze!, 'security', '--offline=true', '--no-pager', unit])
    const [, level] = /Overall exposure level for steno\.service: (\d+\.\d+)/.exec(`${stdout}`) ?? []
    expect(Number(level)).toBeLessThanOrEqual(2)
  },
)

test('make stops with one line when Bun cannot be fetched', () => {
  const folder = temporaryFolder()
  copyFileSync(join(root, 'Makefile'), join(folder, 'Makefile'))
  mkdirSync(join(folder, 'scripts'))
  writeFileSync(join(folder, 'scripts/bun-path'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const { exitCode, stdout, stderr } = Bun.spawnSync(['make', 'run'], {
    cwd: folder,
    // If make runs the tests, it sets environment variables. With these variables, the call of make that is tested here
    // would also print the name of its folder.
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  expect([exitCode, `${stdout}`]).toEqual([2, ''])
  expect(`${stderr}`).toMatch(/^Makefile:\d+: \*\*\* Bun \S+ is not here and cannot be fetched; .*\n$/)
})
