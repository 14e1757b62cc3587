import { afterAll, beforeEach, expect, test } from 'bun:test'
import { closeAccount, createAccount, forgetAccount } from '../../src/accounts/account.ts'
import { deposit, findMoney, findReleased, release, reserve, settle } from '../../src/accounts/ledger.ts'
import { parseDollars, priceOf } from '../../src/accounts/price.ts'
import type { Db } from '../../src/db/db.ts'
import { limits } from '../../src/limits.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { seeded } from '../support/random.ts'

const folder = temporaryFolder()
const db = openTestDb(folder)
let account = ''
let accounts = 0

beforeEach(() => {
  account = newAccount()
})

afterAll(() => {
  db.close()
})

// The expected statement of an account. Its columns are: operation, job, amount, outcome, balance afterwards, reserve
// afterwards. All amounts are in cents.
const statement = `
  deposit  -     500  ok       500    0
  reserve  job1  600  refused  500    0
  reserve  job1  400  ok       500  400
  reserve  job1  100  refused  500  400
  reserve  job2  200  refused  500  400
  reserve  job2  100  ok       500  500
  settle   job1  399  refused  500  500
  settle   job1  400  ok       100  100
  settle   job1  400  refused  100  100
  release  job1    -  nothing  100  100
  release  job2    -  ok       100    0
  release  job2    -  nothing  100    0
  settle   job2  100  refused  100    0
  settle   job3  100  refused  100    0
  release  job3    -  nothing  100    0
  reserve  job2  100  refused  100    0
  reserve  job4    0  ok       100    0
  settle   job4    0  ok       100    0
`
test('each operation of a bank statement leaves its balance and reserve', () => {
  for (const line of statement.trim().split('\n')) {
    const [verb = '', job = '', amount, outcome, balance, reserved] = line.trim().split(/\s+/)
    expect([line, act(account, verb, `${account} ${job}`, Number(amount))]).toEqual([line, outcome!])
    const money = findMoney(db, account)
    expect([line, cents(money.balanceUnits), cents(money.reservedUnits)]).toEqual([
      line,
      Number(balance),
      Number(reserved),
    ])
  }
  const released = ['job1', 'job2', 'job3'].map(job => cents(findReleased(db, `${account} ${job}`)))
  expect(released).toEqual([0, 100, 0])
})

test('a balance stays exact: a deposit above the largest balance is refused', () => {
  deposit(db, account, limits.balanceCentsMax - 500)
  expect(() => deposit(db, account, 501)).toThrow('an account may have at most 10000000000.00 dollars')
  deposit(db, account, 500)
  expect(findMoney(db, account).balanceUnits).toBe(limits.balanceCentsMax * limits.unitsPerCent)
  expect(Number.isSafeInteger(limits.balanceCentsMax * limits.unitsPerCent)).toBe(true)
  expect(() => deposit(db, account, 500)).toThrow('at most')
  expect(findMoney(db, account).balanceUnits).toBe(limits.balanceCentsMax * limits.unitsPerCent)
})

test('an account gets no deposit after its erasure has begun', () => {
  deposit(db, account, 500)
  closeAccount(db, account)
  expect(() => deposit(db, account, 500)).toThrow('This account was deleted.')
  forgetAccount(db, account)
  expect(() => deposit(db, account, 500)).toThrow('This account was deleted.')
  expect(cents(findMoney(db, account).balanceUnits)).toBe(500)
})

test('rows of the ledger are neither changed nor removed', () => {
  deposit(db, account, 500)
  expect(() => db.run('update ledger set units = 1')).toThrow('only added')
  expect(() => db.run('delete from ledger')).toThrow('only added')
})

test("another account cannot end a job's reserve", () => {
  deposit(db, account, 500)
  const other = newAccount()
  deposit(db, other, 500)
  reserve(db, account, 'whose', 100)
  expect(() => settle(db, other, 'whose', 100)).toThrow('no reserve')
})

test('balance and reserve are correct after random operations in random order', () => {
  const random = seeded(20261120)
  const mine = [newAccount(), newAccount(), newAccount()]
  const model = new Map(mine.map(id => [id, { deposited: 0, settled: 0, held: new Map<string, number>() }]))
  const jobs = Array.from({ length: 60 }, (_, at) => `random ${at}`)
  const ended = new Set<string>()
  const reserved = new Set<string>()

  for (let step = 0; step < 5000; step++) {
    const id = random.pick(mine)
    const job = random.pick(jobs)
    const own = model.get(id)!
    const available = own.deposited - own.settled - sum(own.held.values())
    const nested = random.below(4) === 0
    const run = (work: () => void) => (nested ? db.tx(work) : work())
    switch (random.pick(['deposit', 'reserve', 'reserve', 'settle', 'release', 'crash'])) {
      case 'deposit': {
        const amount = random.below(50)
        run(() => deposit(db, id, amount))
        own.deposited += amount * limits.unitsPerCent
        break
      }
      case 'reserve': {
        const units = random.below(200_000)
        const fits = units <= available
        const attempt = () => reserve(db, id, job, units)
        if (fits && reserved.has(job)) expect(attempt).toThrow()
        else expect(attempt()).toBe(fits)
        if (fits && !reserved.has(job)) {
          own.held.set(job, units)
          reserved.add(job)
        }
        break
      }
      case 'settle': {
        const held = own.held.get(job)
        const units = held ?? random.below(1000)
        if (held === undefined) expect(() => settle(db, id, job, units)).toThrow()
        else {
          run(() => settle(db, id, job, units))
          own.settled += units
          own.held.delete(job)
          ended.add(job)
        }
        break
      }
      case 'release': {
        const holder = [...model.values()].find(({ held }) => held.has(job))
        if (holder && holder !== own) break
        expect(release(db, id, job)).toBe(own.held.get(job) ?? 0)
        if (own.held.delete(job)) ended.add(job)
        break
      }
      case 'crash': {
        // The transaction writes two entries to the ledger and then fails. The rollback must remove both entries.
        expect(() =>
          db.tx(() => {
            deposit(db, id, 7)
            reserve(db, id, `crash ${step}`, 1)
            throw new Error('crash')
          }),
        ).toThrow('crash')
      }
    }
    for (const [each, { deposited, settled, held }] of model) {
      const money = findMoney(db, each)
      expect(money.balanceUnits).toBe(deposited - settled)
      expect(money.reservedUnits).toBe(sum(held.values()))
      expect(money.availableUnits).toBeGreaterThanOrEqual(0)
    }
  }
  expect(ended.size).toBeGreaterThan(20)
  const twice = db.list(
    `select job_id from ledger where kind in ('settle', 'release') group by job_id having count(*) > 1`,
  )
  expect(twice).toEqual([])
})

test.each([
  [999, 20, 0],
  [1000, 20, 20],
  [11_700, 20, 220],
  [36_000_000, 20, 720_000],
  [3_600_000, 1, 3600],
])('%p ms at %p cents an hour are %p units', (durationMs, price, units) => {
  expect(priceOf(durationMs, price)).toBe(units)
})

test.each([
  ['5', 500],
  ['5.5', 550],
  ['5.00', 500],
  ['0.01', 1],
  ['5.001', null],
  ['-5', null],
  ['1e3', null],
  ['', null],
  ['five', null],
])('%p dollars are %p cents', (text, expected) => {
  expect(parseDollars(text)).toBe(expected)
})

function newAccount(): string {
  return createAccount(db as Db, { email: `${accounts++}@example.org`, passwordHash: null, verified: true })!
    .id
}

function act(id: string, verb: string, job: string, amount: number): string {
  const units = amount * limits.unitsPerCent
  try {
    if (verb === 'deposit') deposit(db, id, amount)
    if (verb === 'reserve') return reserve(db, id, job, units) ? 'ok' : 'refused'
    if (verb === 'settle') settle(db, id, job, units)
    if (verb === 'release') return release(db, id, job) > 0 ? 'ok' : 'nothing'
    return 'ok'
  } catch {
    return 'refused'
  }
}

function cents(units: number): number {
  return units / limits.unitsPerCent
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}
