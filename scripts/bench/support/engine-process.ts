/** Returns the process id of the engine that the process `parent` has started. */
export function engineOf(parent: number): number {
  const { stdout } = Bun.spawnSync(['ps', '--ppid', `${parent}`, '-o', 'pid=,args='])
  const row = stdout
    .toString()
    .split('\n')
    .find(each => each.trim().endsWith(' engine'))
  return Number(row!.trim().split(/\s+/)[0])
}
