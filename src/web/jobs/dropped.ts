// Reads the files that a person dropped on a page.

/**
 * Refuses dropped files on pages that do not accept them. Otherwise, the browser would leave the app and open the file.
 */
export function refuseDrops(): void {
  addEventListener('dragover', event => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'none'
  })
}

/** `unreadable` has the names of the files and folders that the browser cannot read. */
export type Dropped = { files: File[]; unreadable: string[] }

/**
 * Returns the dropped files, including the files in dropped folders and their subfolders. Inside a folder, names that
 * begin with a period are left out.
 */
export async function droppedFiles(data: DataTransfer): Promise<Dropped> {
  // The browser empties the DataTransfer object after the event, so its entries must be read before the first `await`.
  const entries = [...data.items].flatMap(item => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return { files: [...data.files], unreadable: [] }
  return filesOfAll(entries)
}

async function filesOfAll(entries: readonly FileSystemEntry[]): Promise<Dropped> {
  const found = await Promise.all(
    entries.map(entry => filesOf(entry).catch(() => ({ files: [], unreadable: [entry.name] }))),
  )
  return {
    files: found.flatMap(({ files }) => files),
    unreadable: found.flatMap(({ unreadable }) => unreadable),
  }
}

async function filesOf(entry: FileSystemEntry): Promise<Dropped> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    return { files: [file], unreadable: [] }
  }
  if (!isFolder(entry)) return { files: [], unreadable: [] }
  const reader = entry.createReader()
  const inside: FileSystemEntry[] = []
  // Each call of `readEntries` may return only some of the entries. An empty list means that no entries are left.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) break
    inside.push(...some)
  }
  return filesOfAll(inside.filter(({ name }) => !name.startsWith('.')))
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
