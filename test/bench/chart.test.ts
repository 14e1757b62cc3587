import { expect, test } from 'bun:test'
import { chart } from '../../scripts/bench/support/chart.ts'

test('the position of a point depends on its length and speed', () => {
  const points = [
    { minutes: 10, speed: 20 },
    { minutes: 100, speed: 40 },
    { minutes: 1000, speed: 30 },
  ]
  const svg = chart('Speed', 'a <machine>', [{ name: 'all', points }])
  const line = /points="([^"]+)"/
    .exec(svg)![1]!
    .split(' ')
    .map(each => each.split(',').map(Number))
  // The logarithmic axis of minutes goes from 10 to 1000, so 100 minutes are in its middle. The axis of the speed goes
  // from 0 to 40.
  expect(line.map(([x]) => x)).toEqual([70, 385, 700])
  expect(line.map(([, y]) => y)).toEqual([175, 50, 112.5])
  expect(svg).toContain('a &lt;machine>')
})
