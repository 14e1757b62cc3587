/**
 * Returns words to put before a command. The kernel then kills the program of the command when this process ends or is
 * killed. If the program setpriv is missing or too old, returns no words, and the kernel does not kill the program.
 */
export function dieWithParent(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  return Bun.which('setpriv') && Bun.spawnSync([...prefix, 'true']).success ? prefix : []
}
