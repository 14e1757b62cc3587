import { expect, test } from 'bun:test'
import { reasonIn } from '../../../src/engine/onnx/status-text.ts'

const source = '/onnxruntime_src/onnxruntime/core'

// The first two messages are from ONNX Runtime 1.30: the first without the CUDA libraries, the second without a GPU.
test.each([
  {
    name: 'a missing library',
    message: `${source}/session/provider_bridge_ort.cc:1988 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library /data/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory\n`,
    reason:
      'Failed to load library /data/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory',
  },
  {
    name: 'a missing GPU',
    message: `${source}/providers/cuda/cuda_call.cc:154 std::conditional_t<THRW, void, onnxruntime::common::Status> onnxruntime::CudaCall(ERRTYPE, const char*) [with ERRTYPE = cudaError; bool THRW = true] ${source}/providers/cuda/cuda_call.cc:146 CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=vm ; file=${source}/providers/cuda/cuda_execution_provider.cc ; line=352 ; expr=cudaSetDevice(info_.device_id); \n`,
    reason: 'CUDA failure 100: no CUDA-capable device is detected',
  },
  {
    name: 'a failed allocation',
    message: 'Exception during initialization: std::bad_alloc',
    reason: 'there is not enough memory',
  },
  {
    name: 'another error',
    message: 'Load model from /data/encoder_model.onnx failed:Protobuf parsing failed.',
    reason: 'Load model from /data/encoder_model.onnx failed:Protobuf parsing failed.',
  },
])('of the message about $name, the reason is kept', ({ message, reason }) => {
  expect(reasonIn(message)).toBe(reason)
})
