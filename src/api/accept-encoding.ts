/** Returns true if the header Accept-Encoding contains `coding` with a weight above zero. */
export function accepts(header: string, coding: string): boolean {
  return header.split(',').some(part => {
    const [name, weight = ''] = part.split(';').map(text => text.trim())
    return name?.toLowerCase() === coding && !/^q=0(\.0*)?$/.test(weight)
  })
}
