/* Prints what NVIDIA's own headers say of CUDA's driver interface and of NCCL's, as far as gpuward uses
   them; does not compile where a function has another form than gpuward calls it by. The headers are
   in NVIDIA's CUDA toolkit and in its Python package nvidia-nccl-cu12:

     cc -I CUDA/include -I NCCL/include tests/abi/nccl/nccl_facts.c -o nccl_facts
     ./nccl_facts > tests/abi/nccl/nccl_facts.txt

   One fact a line: `constant NAME VALUE`, `size TYPE BYTES`, `function NAME`. The committed output is
   what nccl_abi_test compares the declarations of gpuward and of its fake with. */
#include <cuda.h>
#include <nccl.h>
#include <stdio.h>

#define CONSTANT(name) printf("constant " #name " %lld\n", (long long)(name));
#define SIZE(type) printf("size " #type " %zu\n", sizeof(type));
#define NAME_OF(name) #name
/* cuMemAlloc is a macro for cuMemAlloc_v2. */
#define FUNCTION(name, ...)                                                                    \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), __VA_ARGS__), "another form"); \
  printf("function %s\n", NAME_OF(name));

int main(void) {
  CONSTANT(CUDA_VERSION)
  CONSTANT(NCCL_VERSION_CODE)
  CONSTANT(CUDA_SUCCESS)
  CONSTANT(CUDA_ERROR_INVALID_VALUE)
  CONSTANT(CUDA_ERROR_OUT_OF_MEMORY)
  CONSTANT(CUDA_ERROR_NO_DEVICE)
  CONSTANT(CUDA_ERROR_NOT_READY)
  CONSTANT(CU_STREAM_DEFAULT)
  CONSTANT(ncclSuccess)
  CONSTANT(ncclUnhandledCudaError)
  CONSTANT(ncclSystemError)
  CONSTANT(ncclInvalidArgument)
  CONSTANT(ncclInvalidUsage)
  CONSTANT(ncclInProgress)
  CONSTANT(ncclFloat32)
  CONSTANT(ncclSum)
  SIZE(CUdevice)
  SIZE(CUdeviceptr)
  SIZE(CUresult)
  SIZE(ncclResult_t)
  SIZE(ncclUniqueId)
  FUNCTION(cuInit, CUresult (*)(unsigned))
  FUNCTION(cuGetErrorString, CUresult (*)(CUresult, const char**))
  FUNCTION(cuDeviceGetCount, CUresult (*)(int*))
  FUNCTION(cuDeviceGet, CUresult (*)(CUdevice*, int))
  FUNCTION(cuDevicePrimaryCtxRetain, CUresult (*)(CUcontext*, CUdevice))
  FUNCTION(cuCtxSetCurrent, CUresult (*)(CUcontext))
  FUNCTION(cuMemGetInfo, CUresult (*)(size_t*, size_t*))
  FUNCTION(cuMemAlloc, CUresult (*)(CUdeviceptr*, size_t))
  FUNCTION(cuMemsetD32, CUresult (*)(CUdeviceptr, unsigned, size_t))
  FUNCTION(cuMemcpyDtoH, CUresult (*)(void*, CUdeviceptr, size_t))
  FUNCTION(cuStreamCreate, CUresult (*)(CUstream*, unsigned))
  FUNCTION(cuStreamQuery, CUresult (*)(CUstream))
  FUNCTION(ncclGetVersion, ncclResult_t (*)(int*))
  FUNCTION(ncclGetErrorString, const char* (*)(ncclResult_t))
  FUNCTION(ncclGetLastError, const char* (*)(ncclComm_t))
  FUNCTION(ncclGetUniqueId, ncclResult_t (*)(ncclUniqueId*))
  FUNCTION(ncclGroupStart, ncclResult_t (*)(void))
  FUNCTION(ncclGroupEnd, ncclResult_t (*)(void))
  FUNCTION(ncclCommInitRank, ncclResult_t (*)(ncclComm_t*, int, ncclUniqueId, int))
  FUNCTION(ncclCommGetAsyncError, ncclResult_t (*)(ncclComm_t, ncclResult_t*))
  FUNCTION(ncclAllReduce, ncclResult_t (*)(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t,
                                           ncclComm_t, cudaStream_t))
  return 0;
}
