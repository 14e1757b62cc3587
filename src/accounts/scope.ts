// The scopes of a grant. The scope `read` allows a client to read data. The scope `write` allows a client to change
// data.

export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

export function scopesIn(text: string): Scope[] {
  return scopes.filter(scope => text.split(' ').includes(scope))
}
