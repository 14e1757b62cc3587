/** Returns the used memory of the first NVIDIA GPU in MB, or an empty text if there is none. */
export function usedGpuMegabytes(): string {
  if (Bun.which('nvidia-smi') === null) return ''
  const query = ['nvidia-smi', '--query-gpu=memory.used', '--format=csv,noheader,nounits']
  return Bun.spawnSync(query).stdout.toString().trim().split('\n')[0] ?? ''
}
