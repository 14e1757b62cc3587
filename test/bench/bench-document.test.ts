import { expect, test } from 'bun:test'
import { markdownTable, sectionsOf, withTables } from '../../scripts/bench/support/bench-document.ts'
import { readDocument } from '../support/documents.ts'

const document = `# Benchmarks

Measured on the old machine.

## a: one

Measured on 2026-01-01,
while the machine was busy.

| file | s |
|------|---|
| x    | 1 |

A remark.

## b

| file | s |
|------|---|
| y    | 2 |
`

test('only the sections of the measured benchmarks change, and keep their remarks', () => {
  const table = [
    ['file', 'seconds'],
    ['x', '3'],
  ]
  expect(withTables(document, { 'a: one': table, c: table }, 'Measured today.')).toBe(`# Benchmarks

Measured on the old machine.

## a: one

Measured today.

| file | seconds |
|------|---------|
| x    | 3       |

A remark.

## b

| file | s |
|------|---|
| y    | 2 |

## c

Measured today.

| file | seconds |
|------|---------|
| x    | 3       |
`)
})

test('docs/bench.md without a new table stays as it is', () => {
  const bench = readDocument('docs/bench.md')
  expect(withTables(bench, {}, 'Measured today.')).toBe(bench)
})

test('each column of a table is as wide as its widest cell', () => {
  const table = [['a', 'bc'], ['def']]
  expect(markdownTable(table)).toBe('| a   | bc |\n|-----|----|\n| def |    |')
  expect(sectionsOf({ x: table, y: [['a']] })).toBe(
    `## x\n\n${markdownTable(table)}\n\n## y\n\n| a |\n|---|\n`,
  )
})
