// A NuGet source, the public one or a mirror: where a package of a version lies, and what its content must be.

import { reasonOf } from '../base/reason.ts'
import { HubError } from './hub.ts'

export const publicSource = 'https://api.nuget.org/v3/index.json'

export type Package = { address: string; size: number; sha512: string }

/** What the source's own index says of the package. */
export async function findPackage(
  source: string,
  id: string,
  version: string,
  signal: AbortSignal,
): Promise<Package> {
  const { resources = [] } = (await json(source, signal)) as {
    resources?: { '@id': string; '@type': string }[]
  }
  const base = (type: string) => {
    const found = resources.findLast(each => each['@type'].startsWith(type))?.['@id']
    if (!found) throw new HubError(`${source} offers no ${type}`)
    return found.replace(/\/*$/, '/')
  }
  const name = id.toLowerCase()
  const leaf = (await json(`${base('RegistrationsBaseUrl')}${name}/${version}.json`, signal)) as {
    catalogEntry?: unknown
  }
  const entry =
    typeof leaf.catalogEntry === 'string' ? await json(leaf.catalogEntry, signal) : leaf.catalogEntry
  const { packageHash, packageHashAlgorithm, packageSize } = (entry ?? {}) as Record<string, unknown>
  if (
    typeof packageHash !== 'string' ||
    packageHashAlgorithm !== 'SHA512' ||
    typeof packageSize !== 'number'
  ) {
    throw new HubError(
      `${source} names no hash for ${id} ${version}: fetch the package yourself and give it with --from`,
    )
  }
  return {
    address: `${base('PackageBaseAddress')}${name}/${version}/${name}.${version}.nupkg`,
    size: packageSize,
    sha512: Buffer.from(packageHash, 'base64').toString('hex'),
  }
}

/** Its bytes from `from` on; `resumed` says whether the source went along with that. */
export async function openPackage(
  { address }: Package,
  from: number,
  signal: AbortSignal,
): Promise<{ body: AsyncIterable<Uint8Array>; resumed: boolean }> {
  const answer = await get(address, signal, from > 0 ? { Range: `bytes=${from}-` } : {})
  if (!answer.body) throw new HubError(`${address} sent no bytes`)
  return { body: answer.body, resumed: answer.status === 206 }
}

async function json(address: string, signal: AbortSignal): Promise<unknown> {
  const answer = await get(address, signal)
  return answer.json().catch(() => {
    throw new HubError(`${address} is no NuGet source`)
  })
}

async function get(
  address: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(address, { signal, headers })
  } catch (error) {
    signal.throwIfAborted()
    throw new HubError(`${address} cannot be reached (${reasonOf(error)})`)
  }
  if (answer.ok) return answer
  await answer.body?.cancel()
  throw new HubError(`${address} answered ${answer.status}`)
}
