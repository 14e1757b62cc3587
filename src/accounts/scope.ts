// The scopes of a grant.

export const scopes = ['read', 'write'] as const
export type Scope = (typeof scopes)[number]

export function scopesIn(text: string): Scope[] {
  return scopes.filter(scope => text.split(' ').includes(scope))
}
