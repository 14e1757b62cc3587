// A client of the public NuGet server (a server of software packages) or of a mirror. Finds and downloads a package,
// such as the one with ONNX Runtime's CUDA provider.

import { get, getFrom, SourceError, type Transfer } from './source.ts'

export const publicSource = 'https://api.nuget.org/v3/index.json'

export type Package = { address: string; size: number; sha512: string }

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
    const found = resources.findLast(resource => resource['@type'].startsWith(type))?.['@id']
    if (!found) throw new SourceError(`${source} offers no ${type}`)
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

async function json(address: string, signal: AbortSignal): Promise<unknown> {
  const answer = await get(address, { signal })
  return answer.json().catch(() => {
    throw new SourceError(`${address} is no NuGet source`)
  })
}
