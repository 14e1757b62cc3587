// Simulates a year of a very large service: `bun scripts/scale/year.ts [--seed 7] [--picture FILE]`. Prints the waiting
// times, the number and cost of GPUs, and the used share of each server resource. The result depends on the numbers in
// assumptions.ts.

import { parseArgs } from 'node:util'
import { gpu as facts, hour, load, server, year } from './assumptions.ts'
import { picture } from './picture.ts'
import { dollars, kinds } from './pool.ts'
import { type Result, simulate } from './simulate.ts'

const { values } = parseArgs({ options: { seed: { type: 'string' }, picture: { type: 'string' } } })
const seed = Number(values.seed ?? 7)
const result = simulate(seed)
print(`One of ${load.servers} servers for a year, seed ${seed}`, summary(result))
print(`The demand on this server in its busiest minute, and what one server can do`, bottlenecks(result))
if (values.picture) await Bun.write(values.picture, picture(result))

function print(title: string, rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  const lines = rows.map(row => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`)
  const line = `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`
  console.log(`${title}\n\n${lines.toSpliced(1, 0, line).join('\n')}\n`)
}

function summary(of: Result): string[][] {
  const { waits, pool } = of
  const audioHours = of.audioSeconds / hour
  const gpuHours = kinds.reduce((sum, kind) => sum + pool.seconds[kind] / hour, 0)
  const cost = dollars(pool)
  const slow = of.days.filter(waitsOfDay => waitsOfDay.quantile(0.99) > 60).length
  const seconds = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} s`
  return [
    ['what', 'one server', `all ${load.servers}`],
    ['jobs', millions(of.jobs), millions(of.jobs * load.servers)],
    ['hours of audio', millions(audioHours), millions(audioHours * load.servers)],
    ['waiting time, half of the jobs', seconds(waits.quantile(0.5)), ''],
    ['waiting time, 95 %', seconds(waits.quantile(0.95)), ''],
    ['waiting time, 99 %', seconds(waits.quantile(0.99)), ''],
    ['waiting time, 99.9 %', seconds(waits.quantile(0.999)), ''],
    ['longest waiting time', seconds(waits.longest()), ''],
    ['days whose 99 % is over a minute', `${slow} of ${of.days.length}`, ''],
    [
      'GPUs, mean',
      ((gpuHours * hour) / year).toFixed(1),
      ((gpuHours * hour * load.servers) / year).toFixed(0),
    ],
    ['GPUs, most', `${of.gpusMax}`, `at most ${of.gpusMax * load.servers}`],
    ['share of the time that a GPU works', percent(workShare(of, gpuHours)), ''],
    ['spot GPUs that vanished', `${pool.vanished}`, `${pool.vanished * load.servers}`],
    ['jobs begun again', `${of.begunAgain}`, `${of.begunAgain * load.servers}`],
    ['jobs that failed after four attempts', `${of.failed}`, `${of.failed * load.servers}`],
    ['GPUs, dollars', millions(cost), millions(cost * load.servers)],
    ['dollars for an hour of audio', (cost / audioHours).toFixed(4), ''],
  ]
}

function workShare({ audioSeconds, jobs }: Result, gpuHours: number): number {
  return (audioSeconds / facts.secondsOfAudioPerSecond + jobs * facts.jobSeconds) / (gpuHours * hour)
}

/**
 * Returns a table of the demand and the capacity of each server resource, the most used first. The last rows show the
 * sizes of the media and the database, and the time to copy the database.
 */
function bottlenecks({ peak, audioSeconds }: Result): string[][] {
  const { measured } = server
  const audioHours = peak.audioPerSecond / hour
  const megabytes = audioHours * server.megabytesPerHour
  const rows: { what: string; demand: number; capacity: number; unit: string }[] = [
    {
      what: 'inspection of media',
      demand: audioHours * measured.inspectionCpuSecondsPerHour,
      capacity: server.cores - 1,
      unit: 'cores',
    },
    {
      what: 'POST requests',
      demand: peak.jobsPerSecond * server.requestsPerJob,
      capacity: measured.postsPerSecond,
      unit: 'per second',
    },
    {
      what: 'hand-over to workers',
      demand: peak.jobsPerSecond * measured.handOverCpuSeconds,
      capacity: 1,
      unit: 'threads',
    },
    {
      what: 'media to the disk',
      demand: megabytes,
      capacity: server.diskMegabytesPerSecond,
      unit: 'MB/s',
    },
    {
      what: 'media in and out by the wire',
      demand: 2 * megabytes,
      capacity: 2 * server.wireMegabytesPerSecond,
      unit: 'MB/s',
    },
  ]
  const busiest = rows.toSorted((one, other) => other.demand / other.capacity - one.demand / one.capacity)
  const databaseGigabytes = ((audioSeconds / hour) * measured.databaseMegabytesPerHour) / 1000
  return [
    ['what', 'demand', 'capacity', 'used'],
    ...busiest.map(({ what, demand, capacity, unit }) => [
      what,
      `${demand.toFixed(1)} ${unit}`,
      `${capacity} ${unit}`,
      percent(demand / capacity),
    ]),
    [
      'media of a day on the disk, mean',
      `${(((audioSeconds / year) * 24 * server.megabytesPerHour) / 1e6).toFixed(1)} TB`,
      '',
      '',
    ],
    ['the database after a year', `${databaseGigabytes.toFixed(0)} GB`, '', ''],
    [
      'a copy of this database',
      `${((databaseGigabytes * measured.copySecondsPerGigabyte) / hour).toFixed(1)} h`,
      '',
      '',
    ],
  ]
}

function millions(value: number): string {
  return `${(value / 1e6).toFixed(2)} million`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}
