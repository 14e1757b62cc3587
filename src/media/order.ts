// Builds the command-line arguments of the media program (native/media).

import { limits } from '../limits.ts'
import { sampleRate, samplesMax } from './wire.ts'

export type MediaOrder = {
  operation: 'inspect' | 'decode'
  parent: number
  priority: number
  openCpuMs: number
  cpuMs: number
  memoryBytes: number
  durationMsMax: number
  /** The number of the channel to decode, counted from 1. If it is 0, the mix of all channels is decoded. */
  channel: number
}

/** Returns the command-line arguments for the media program. native/media/main.c defines their names. */
export function argumentsOf(order: MediaOrder): string[] {
  const inspectedMax = (order.durationMsMax / 1000) * sampleRate
  const numbers = {
    parent: order.parent,
    priority: order.priority,
    open_cpu_ms: order.openCpuMs,
    cpu_ms: order.cpuMs,
    memory_bytes: order.memoryBytes,
    samples_max: order.operation === 'inspect' ? inspectedMax : samplesMax(order.durationMsMax),
    probe_bytes: limits.mediaProbeBytes,
    damaged_packets_max: limits.mediaDamagedPacketsMax,
    alive_every_ms: limits.mediaAliveEveryMs,
    channel: order.channel,
  }
  return [order.operation, ...Object.entries(numbers).map(([name, value]) => `${name}=${Math.floor(value)}`)]
}
