// Opens the library with steno's own operations for ONNX Runtime (native/operators). Steno's operations compute
// attention faster than ONNX Runtime. On x86 CPUs without VNNI instructions, they also compute the matrix products of
// the encoder. On these CPUs, the usual 8-bit products of ONNX Runtime can be wrong, because their sums are limited to
// 16 bits. ONNX Runtime also has exact products, but they are slower than steno's.

import { dlopen, type Pointer } from 'bun:ffi'
import { findCarried } from '../../base/carried.ts'
import { ownDomain } from './messages.ts'
import { cString, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'

const known = new WeakMap<Runtime, Pointer | null>()

/**
 * Returns the domain (a named group of operations in ONNX) of steno's own operations. A session needs this domain to
 * open a model with such operations. Returns null if there is no library for this machine, or if the CPU lacks AVX2 or
 * FMA.
 */
export function openOperators(runtime: Runtime): Pointer | null {
  const domain = known.get(runtime) ?? makeDomain(runtime)
  known.set(runtime, domain)
  return domain
}

function makeDomain(runtime: Runtime): Pointer | null {
  const library = findCarried(`native/${process.platform}-${process.arch}/libsteno-operators.so`)
  if (library === null) return null
  const { steno_operator: operatorAt } = dlopen(library, {
    steno_operator: { args: ['u64'], returns: 'ptr' },
  }).symbols
  let operator = operatorAt(0)
  if (operator === null) return null
  const domain = pointerFrom(out => runtime.CreateCustomOpDomain(cString(ownDomain), out))
  for (let index = 1; operator !== null; index++) {
    runtime.CustomOpDomain_Add(domain, Number(operator) as Pointer)
    operator = operatorAt(index)
  }
  return domain
}
