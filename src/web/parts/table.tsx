import type { ComponentChildren } from 'preact'

/** A table with column headings. On a narrow screen, the cells of each row stand below each other. */
export function Table({
  columns,
  class: className = '',
  children,
}: {
  columns: readonly string[]
  class?: string
  children: ComponentChildren
}) {
  return (
    <table class={`cards ${className}`}>
      <thead>
        <tr>
          {columns.map(column => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
