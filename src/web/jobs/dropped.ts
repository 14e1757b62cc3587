// Returns the files that a person dropped on the page, including the files in dropped folders and their subfolders.
// Inside a folder, names that begin with a period are left out.

export async function droppedFiles(data: DataTransfer): Promise<File[]> {
  // The browser empties the DataTransfer object after the event, so its entries must be read before the first `await`.
  const entries = [...data.items].flatMap(item => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return [...data.files]
  const found = await Promise.all(entries.map(filesOf))
  return found.flat()
}

async function filesOf(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))]
  if (!isFolder(entry)) return []
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
  const found = await Promise.all(inside.filter(({ name }) => !name.startsWith('.')).map(filesOf))
  return found.flat()
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}
