// The scopes of a grant: the access that an account allowed to an OAuth client. The scope `read` allows the client to
// read data. The scope `write` allows the client to change data.

export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

export function scopesIn(text: string): Scope[] {
  return scopes.filter(scope => text.split(' ').includes(scope))
}
