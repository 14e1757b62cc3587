// Finds and checks the inputs and outputs of the networks of a TDT model (token-and-duration transducer).

import type { Port, Session } from '../onnx/session.ts'

export function portOf(ports: readonly Port[], name: string): Port | undefined {
  return ports.find(port => port.name === name)
}

export function requirePorts(
  session: Session,
  path: string,
  inputs: readonly string[],
  outputs: readonly string[],
): void {
  const missing =
    inputs.find(name => !portOf(session.inputs, name)) ?? outputs.find(name => !portOf(session.outputs, name))
  if (missing) throw new Error(`${path} has no input or output named ${missing}`)
}
