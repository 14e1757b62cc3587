import type { ComponentChildren } from 'preact'

/** A table with its column heads. On a narrow screen, each row becomes a card. */
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
