// A client of the model hub (Hugging Face) or of a mirror. A steno server is a mirror for its workers.

import { withoutPassword } from '../base/visible.ts'
import { getFrom, getJson, isSize, SourceError, type SourceRequest, type Transfer } from './source.ts'

export type Hub = {
  /** The base URL of the hub: `https://huggingface.co`, the value of HF_ENDPOINT, or a URL of a steno server. */
  endpoint: string
  /** The access token for the hub, for example the value of HF_TOKEN. Null if there is no token. */
  token: string | null
}

export type HubFile = {
  path: string
  size: number
  /**
   * The hash that the hub publishes for the file: SHA-256 for a large file, and git's object name (a SHA-1) for a small
   * file.
   */
  hash: { kind: 'sha256' | 'git'; value: string }
}

export function hubFrom(environment: Record<string, string | undefined>): Hub {
  return {
    endpoint: (environment.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, ''),
    token: environment.HF_TOKEN || null,
  }
}

/** Returns the hash of the commit to which a branch or a tag of the repository points. */
export async function findRevision(
  hub: Hub,
  repository: string,
  revision: string,
  signal: AbortSignal,
): Promise<string> {
  const path = `/api/models/${repository}/revision/${encodeURIComponent(revision)}`
  const { sha } = Object(await getJson(`${hub.endpoint}${path}`, requestOf(hub, signal))) as { sha?: unknown }
  if (typeof sha !== 'string' || !/^[0-9a-f]{7,64}$/.test(sha))
    throw new SourceError('the hub named no commit')
  return sha
}

export async function listFiles(
  hub: Hub,
  repository: string,
  revision: string,
  signal: AbortSignal,
): Promise<HubFile[]> {
  const path = `/api/models/${repository}/tree/${revision}?recursive=true`
  const rows = await getJson(`${hub.endpoint}${path}`, requestOf(hub, signal))
  const files = Array.isArray(rows) ? rows.filter(row => row?.type === 'file').map(fileOf) : [null]
  if (files.includes(null)) {
    throw new SourceError(`${withoutPassword(hub.endpoint)} sent no list of the files of ${repository}`)
  }
  return files.filter(file => file !== null)
}

/** Converts an entry of the hub's list of files. Returns null if the entry has no path, no valid size or no hash. */
function fileOf({ path, size, oid, lfs }: Record<string, unknown>): HubFile | null {
  const large = lfs ? (Object(lfs) as { oid?: unknown; size?: unknown }) : null
  const [bytes, value] = large ? [large.size, large.oid] : [size, oid]
  if (typeof path !== 'string' || typeof value !== 'string' || !isSize(bytes)) return null
  const hash = large
    ? ({ kind: 'sha256', value: value.replace('sha256:', '') } as const)
    : ({ kind: 'git', value } as const)
  return { path, size: bytes, hash }
}

export function openFile(
  hub: Hub,
  { repository, revision, path, from }: { repository: string; revision: string; path: string; from: number },
  signal: AbortSignal,
): Promise<Transfer> {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  const address = `${hub.endpoint}/${repository}/resolve/${revision}/${encoded}`
  return getFrom(address, from, requestOf(hub, signal))
}

function requestOf({ token }: Hub, signal: AbortSignal): SourceRequest {
  return {
    signal,
    // The hub publishes sizes and hashes of uncompressed files, so the response must not be compressed.
    headers: { 'Accept-Encoding': 'identity', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    signInHint: 'a token in HF_TOKEN may be needed',
    unreachableHint: 'HF_ENDPOINT names a mirror, or copy the folder of the model from a machine that has it',
  }
}
