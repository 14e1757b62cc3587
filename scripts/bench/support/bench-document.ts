// The sections of docs/bench.md. Each section has the name of a benchmark and the table of its results.

/** The result tables, by the name of the benchmark. The first row of a table is its header. */
export type Tables = Record<string, string[][]>

/** Returns a table as Markdown. */
export function markdownTable(table: string[][]): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map(row => (row[column] ?? '').length)),
  )
  const lines = table.map(
    row => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`,
  )
  return lines.toSpliced(1, 0, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`).join('\n')
}

export function sectionsOf(tables: Tables): string {
  return Object.entries(tables)
    .map(([name, table]) => `## ${name}\n\n${markdownTable(table)}\n`)
    .join('\n')
}

/**
 * Returns the document with the new tables. In each changed section, `measured` replaces the paragraph that begins with
 * `Measured`. Other paragraphs stay. A new section is added at the end.
 */
export function withTables(document: string, tables: Tables, measured: string): string {
  const [start = '', ...sections] = document.trimEnd().split(/\n(?=## )/)
  const renewed = new Map(sections.map(section => [nameOf(section), section]))
  for (const [name, table] of Object.entries(tables)) {
    const rest = paragraphsOf(renewed.get(name) ?? '')
      .slice(1)
      .filter(paragraph => !/^(Measured |\|)/.test(paragraph))
    renewed.set(name, [`## ${name}`, measured, markdownTable(table), ...rest].join('\n\n'))
  }
  return `${[start, ...renewed.values()].map(part => part.trimEnd()).join('\n\n')}\n`
}

function nameOf(section: string): string {
  return paragraphsOf(section)[0]?.slice('## '.length) ?? ''
}

function paragraphsOf(section: string): string[] {
  return section.split(/\n\n+/).map(paragraph => paragraph.trimEnd())
}
