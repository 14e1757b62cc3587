import type { ComponentChildren } from 'preact'

export type Row = {
  key: string | number
  /** The content of the row's cells, in the order of the columns. */
  cells: ComponentChildren[]
  class?: string
}

type TableProps = {
  columns: readonly string[]
  rows: readonly Row[]
  /** The index of the column whose cells are the headings of the rows. The first column has the index 0. */
  heading?: number
  /** The indexes of the columns that contain numbers. These columns are aligned to the right. */
  numbers?: readonly number[]
}

/**
 * A table with column headings. On a narrow screen, each row becomes a card with the cells one below the other. Most
 * cells then show the heading of their column.
 */
export function Table({ columns, rows, heading = 0, numbers = [] }: TableProps) {
  const styleOf = (column: number) => (numbers.includes(column) ? 'number' : undefined)
  return (
    <table class="cards">
      <thead>
        <tr>
          {columns.map((column, at) => (
            <th key={column} scope="col" class={styleOf(at)}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells, class: className }) => (
          <tr key={key} class={className}>
            {cells.map((cell, at) =>
              at === heading ? (
                <th key={at} scope="row">
                  {cell}
                </th>
              ) : (
                <td key={at} class={styleOf(at)} data-label={columns[at]}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
