// Converts share links of cloud storage to direct URLs of the shared files. The share link itself leads to a web page.

export type NoFile = 'folder' | 'own-app'
type Row = {
  host: RegExp
  path?: RegExp
  /**
   * Returns the direct URL of the file, or the reason why there is none. Returns null if this entry of the list `rows`
   * does not convert the link.
   */
  to: (url: URL, match: RegExpExecArray) => URL | NoFile | null
}

const rows: Row[] = [
  // Dropbox: /s/ and /scl/fi/ lead to a file. /sh/ and /scl/fo/ lead to a folder, or to a file in the folder if the
  // name of the file follows.
  { host: /^(www\.)?dropbox\.com$/, path: /^\/(s|scl\/fi)\/./, to: dropboxFile },
  { host: /^(www\.)?dropbox\.com$/, path: /^\/(sh|scl\/fo)\/[^/]+\/[^/]+\/[^/]+/, to: dropboxFile },
  { host: /^(www\.)?dropbox\.com$/, path: /^\/(sh|scl\/fo)\//, to: () => 'folder' },

  // Google Drive: `confirm=t` skips the warning that a file is too large for the virus scan.
  {
    host: /^(drive|docs)\.google\.com$/,
    path: /^(?:\/u\/\d+)?\/file\/(?:u\/\d+\/)?d\/([\w-]+)/,
    to: (url, [, id = '']) => driveFile(url, id),
  },
  {
    host: /^(drive|docs|drive\.usercontent)\.google\.com$/,
    path: /^(?:\/u\/\d+)?\/(?:open|uc|download)$/,
    to: url => driveFile(url, url.searchParams.get('id')),
  },
  {
    host: /^drive\.google\.com$/,
    path: /^(?:\/drive)?(?:\/(?:u|mobile)(?:\/\d+)?)?\/(folders\/|folderview|embeddedfolderview)/,
    to: () => 'folder',
  },

  // OneDrive and SharePoint: in most links, a letter in the path gives the kind of the shared item. The letter f means
  // a folder.
  { host: /^1drv\.ms$/, path: /^\/f\//, to: () => 'folder' },
  { host: /^1drv\.ms$/, path: /^\/[a-z]\//, to: url => withQuery(url, { download: '1' }) },
  { host: /^onedrive\.live\.com$/, path: /^\/(?:redir|embed|download)?$/i, to: oneDriveFile },
  {
    host: /(^|\.)(sharepoint\.com|microsoftpersonalcontent\.com)$/,
    path: /^\/:f:\//,
    to: () => 'folder',
  },
  {
    host: /(^|\.)(sharepoint\.com|microsoftpersonalcontent\.com)$/,
    path: /^\/:[a-z]:\//,
    to: url => withQuery(url, { download: '1' }),
  },

  // Box: the host may be a subdomain that belongs to a company.
  {
    host: /(^|\.)box\.com$/,
    path: /^\/s\/(\w+)\/?$/,
    to: (url, [, id]) => new URL(`/shared/static/${id}`, url),
  },
  { host: /(^|\.)box\.com$/, path: /^\/(folder|s\/\w+\/folder)\//, to: () => 'folder' },

  // Nextcloud and ownCloud: the host may have any name. The link does not show whether a file or a folder is shared. A
  // folder is sent as an archive file, which the media program refuses later.
  {
    host: /./,
    path: /^(.*\/index\.php)\/s\/(\w+)\/?$/,
    to: (url, [, base, id]) => new URL(`${base}/s/${id}/download`, url),
  },

  // GitHub, GitLab and Hugging Face: links to files in a repository.
  {
    host: /^github\.com$/,
    path: /^\/([^/]+\/[^/]+)\/blob\/(.+)$/,
    to: (url, [, repository, file]) => new URL(`/${repository}/raw/${file}`, url),
  },
  {
    host: /./,
    path: /^(\/.+)\/-\/blob\/(.+)$/,
    to: (url, [, repository, file]) => new URL(`${repository}/-/raw/${file}`, url),
  },
  {
    host: /^huggingface\.co$/,
    path: /^(\/.+)\/blob\/(.+)$/,
    to: (url, [, repository, file]) => new URL(`${repository}/resolve/${file}`, url),
  },

  // The following services encrypt files end to end, so only their own apps can read a shared file.
  { host: /^(www\.)?mega\.(nz|co\.nz|io)$/, to: () => 'own-app' },
  { host: /^drive\.proton\.me$/, to: () => 'own-app' },
  // The following services show shared files only in their own apps, so a shared file has no direct URL.
  { host: /^(photos\.google\.com|photos\.app\.goo\.gl)$/, to: () => 'own-app' },
  { host: /^(www\.icloud\.com|share\.icloud\.com)$/, to: () => 'own-app' },
]

/**
 * Returns the direct URL of a shared file, or the reason why there is none. Returns `url` unchanged if it is not a
 * known share link.
 */
export function directAddress(url: URL): URL | NoFile {
  for (const { host, path = /^/, to } of rows) {
    const match = host.test(url.hostname) ? path.exec(url.pathname) : null
    const direct = match && to(url, match)
    if (direct) return direct
  }
  return url
}

function dropboxFile(url: URL): URL {
  return url.searchParams.get('raw') === '1' ? url : withQuery(url, { dl: '1' })
}

function driveFile(url: URL, id: string | null): URL | null {
  if (!id) return null
  const resourceKey = url.searchParams.get('resourcekey')
  return withQuery(new URL('https://drive.usercontent.google.com/download'), {
    id,
    export: 'download',
    confirm: 't',
    ...(resourceKey ? { resourcekey: resourceKey } : {}),
  })
}

function oneDriveFile(url: URL): URL | null {
  const id = url.searchParams.get('resid') ?? url.searchParams.get('id')
  if (!id?.includes('!')) return null
  const direct = new URL('/download', url)
  const kept = ['authkey', 'cid', 'ithint', 'e'].flatMap(name => {
    const value = url.searchParams.get(name)
    return value === null ? [] : [[name, value]]
  })
  return withQuery(direct, { resid: id, ...Object.fromEntries(kept) })
}

function withQuery(url: URL, values: Record<string, string>): URL {
  const changed = new URL(url)
  for (const [name, value] of Object.entries(values)) changed.searchParams.set(name, value)
  return changed
}
