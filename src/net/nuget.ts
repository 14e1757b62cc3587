// A client of the public NuGet server (a server of software packages) or of a mirror. Finds and downloads a package,
// such as the one with ONNX Runtime's CUDA provider.

import { get, getFrom, isSize, SourceError, type Transfer } from './source.ts'

export const publicSource = 'https://api.nuget.org/v3/index.json'

type Resource = { '@id'?: unknown; '@type'?: unknown }

export type Package = { address: string; size: number; sha512: string }

export async function findPackage(
  source: string,
  id: string,
  version: string,
  signal: AbortSignal,
): Promise<Package> {
  const { resources } = await json(source, signal)
  const base = (type: string) => {
    const isWanted = (resource: unknown) => `${(Object(resource) as Resource)['@type']}`.startsWith(type)
    const found = Array.isArray(resources) ? resources.findLast(isWanted)?.['@id'] : undefined
    if (typeof found !== 'string') throw new SourceError(`${source} offers no ${type}`)
    return found.replace(/\/*$/, '/')
  }
  const name = id.toLowerCase()
  const { catalogEntry } = await json(`${base('RegistrationsBaseUrl')}${name}/${version}.json`, signal)
  const entry = typeof catalogEntry === 'string' ? await json(catalogEntry, signal) : catalogEntry
  const { packageHash, packageHashAlgorithm, packageSize } = Object(entry) as Record<string, unknown>
  if (typeof packageHash !== 'string' || packageHashAlgorithm !== 'SHA512' || !isSize(packageSize)) {
    throw new SourceError(
      `${source} names no hash for ${id} ${version}: fetch the package yourself and give it with --from`,
    )
  }
  return {
    address: `${base('PackageBaseAddress')}${name}/${version}/${name}.${version}.nupkg`,
    size: packageSize,
    sha512: Buffer.from(packageHash, 'base64').toString('hex'),
  }
}

export function openPackage({ address }: Package, from: number, signal: AbortSignal): Promise<Transfer> {
  return getFrom(address, from, { signal })
}

/** Returns the JSON object at the address. Throws a SourceError if there is something else. */
async function json(address: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const answer = await get(address, { signal })
  const content: unknown = await answer.json().catch(() => null)
  signal.throwIfAborted()
  if (typeof content !== 'object' || content === null) throw new SourceError(`${address} is no NuGet source`)
  return content as Record<string, unknown>
}
