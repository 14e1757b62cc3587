// The model hub, or a mirror of it: the operator's own choice, so that private addresses are as good as public ones.

import { reasonOf } from '../base/reason.ts'

export type Hub = {
  /** `https://huggingface.co`, or what HF_ENDPOINT says. */
  endpoint: string
  token: string | null
}

export type HubFile = {
  path: string
  size: number
  /** The hub's own word for the content: sha-256 of a large file, git's name for a small one. */
  hash: { kind: 'sha256' | 'git'; value: string }
}

export class HubError extends Error {}

export function hubFrom(environment: Record<string, string | undefined>): Hub {
  return {
    endpoint: (environment.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, ''),
    token: environment.HF_TOKEN || null,
  }
}

/** The commit that a revision stands for now. */
export async function findRevision(
  hub: Hub,
  repository: string,
  revision: string,
  signal: AbortSignal,
): Promise<string> {
  const answer = await get(hub, `/api/models/${repository}/revision/${encodeURIComponent(revision)}`, signal)
  const { sha } = (await answer.json()) as { sha?: unknown }
  if (typeof sha !== 'string' || !/^[0-9a-f]{7,64}$/.test(sha)) throw new HubError('the hub named no commit')
  return sha
}

export async function listFiles(
  hub: Hub,
  repository: string,
  revision: string,
  signal: AbortSignal,
): Promise<HubFile[]> {
  const answer = await get(hub, `/api/models/${repository}/tree/${revision}?recursive=true`, signal)
  const rows = (await answer.json()) as {
    type: string
    path: string
    size: number
    oid: string
    lfs?: { oid: string; size: number }
  }[]
  return rows
    .filter(row => row.type === 'file')
    .map(({ path, size, oid, lfs }) => ({
      path,
      size: lfs?.size ?? size,
      hash: lfs ? { kind: 'sha256', value: lfs.oid.replace('sha256:', '') } : { kind: 'git', value: oid },
    }))
}

/** A file's bytes from `from` on; `resumed` says whether the hub went along with that. */
export async function openFile(
  hub: Hub,
  { repository, revision, path, from }: { repository: string; revision: string; path: string; from: number },
  signal: AbortSignal,
): Promise<{ body: AsyncIterable<Uint8Array>; resumed: boolean }> {
  const place = `/${repository}/resolve/${revision}/${path.split('/').map(encodeURIComponent).join('/')}`
  const answer = await get(hub, place, signal, from > 0 ? { Range: `bytes=${from}-` } : {})
  if (!answer.body) throw new HubError('the hub sent no bytes')
  return { body: answer.body, resumed: answer.status === 206 }
}

async function get(hub: Hub, place: string, signal: AbortSignal, headers: Record<string, string> = {}) {
  let answer: Response
  try {
    answer = await fetch(`${hub.endpoint}${place}`, {
      signal,
      headers: {
        ...headers,
        'Accept-Encoding': 'identity',
        ...(hub.token ? { Authorization: `Bearer ${hub.token}` } : {}),
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    throw new HubError(`${hub.endpoint} cannot be reached (${reasonOf(error)})`)
  }
  if (answer.ok) return answer
  await answer.body?.cancel()
  const hint = [401, 403].includes(answer.status) ? '; a token in HF_TOKEN may be needed' : ''
  throw new HubError(`${hub.endpoint} answered ${answer.status} for ${place.split('?')[0]}${hint}`)
}
