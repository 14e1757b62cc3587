// Pointers and C strings for calls of native functions.

import { CString, type Pointer, ptr } from 'bun:ffi'

/** Calls `call`, which must pass `out` to a C function. Returns the pointer that the C function writes into `out`. */
export function pointerFrom(call: (out: BigUint64Array) => void): Pointer {
  const out = new BigUint64Array(1)
  call(out)
  return Number(out[0]) as Pointer
}

/** Returns the bytes of a C string. The caller must keep the array while native code may read the string. */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`)
}

/** Returns an array of pointers to C strings. The strings stay in memory as long as the array. */
export function cStrings(texts: readonly string[]): BigUint64Array {
  const strings = texts.map(cString)
  const pointers = BigUint64Array.from(strings, string => BigInt(ptr(string)))
  keepAlive(pointers, strings)
  return pointers
}

const kept = new WeakMap<object, unknown>()

/** Keeps `memory` alive as long as `owner`. The garbage collector does not know that native code uses `memory`. */
function keepAlive(owner: object, memory: unknown): void {
  kept.set(owner, memory)
}

export function textAt(pointer: Pointer | bigint | null): string {
  return pointer === null ? '' : new CString(Number(pointer) as Pointer).toString()
}
