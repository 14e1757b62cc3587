// Shortens the error messages of ONNX Runtime. Some messages begin with a place in its C++ source and a long function
// signature.

/** The part of a message that says why a call of CUDA or of one of its libraries failed. */
const cudaFailure = /\b(?:CUDA|CUDNN|CUBLAS|CURAND|CUFFT) failure \d+: [^;\n]+/
/** The part of a message up to the end of its last error code. The reason follows this part. */
const errorCode = /.*\[ONNXRuntimeError\] : \d+ : \w+ : /s

/** The C++ exception of a failed allocation. Some messages give no other reason. */
const noMemory = 'std::bad_alloc'

/** Returns the reason in a message of ONNX Runtime, or the whole message if its form is not known. */
export function reasonIn(message: string): string {
  if (message.includes(noMemory)) return 'there is not enough memory'
  const [failure] = cudaFailure.exec(message) ?? []
  return (failure ?? message.replace(errorCode, '')).trim()
}
