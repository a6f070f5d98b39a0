// Compares gpuward's declarations of CUDA's driver interface and of NCCL's, and those of the fake,
// with NVIDIA's headers.
#include "exporter/nccl_pair/nccl_abi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "exporter/nccl_pair/all_reduce.h"
#include "exporter/nccl_pair/cuda_abi.h"
#include "tests/fakes/nccl/types.h"
#include "tests/places.inc"

namespace gpuward::abi {
namespace {

namespace cuda = exporter::nccl_pair::cuda;
namespace nccl = exporter::nccl_pair::nccl;
using Numbers = std::map<std::string, long long>;

struct NcclFacts {
  Numbers constants, sizes;
  std::set<std::string> functions;
};

const NcclFacts& nccl_facts() {
  static const NcclFacts kFacts = [] {
    NcclFacts facts;
    std::istringstream lines(
        read_file(GPUWARD_SOURCE_DIR "/tests/abi/nccl/nccl_facts.txt").value_or(""));
    std::string kind, name;
    while (lines >> kind >> name) {
      if (kind == "function") {
        facts.functions.insert(name);
      } else {
        lines >> (kind == "size" ? facts.sizes : facts.constants)[name];
      }
    }
    return facts;
  }();
  return kFacts;
}

TEST(NcclAbi, OurNumbersAreThoseOfTheHeaders) {
  const Numbers ours{{"CUDA_SUCCESS", cuda::kSuccess},
                     {"CUDA_ERROR_NOT_READY", cuda::kNotReady},
                     {"CU_STREAM_DEFAULT", cuda::kBlockingStream},
                     {"ncclSuccess", nccl::kSuccess},
                     {"ncclInProgress", nccl::kInProgress},
                     {"ncclFloat32", nccl::kFloat},
                     {"ncclSum", nccl::kSum}};
  EXPECT_THAT(nccl_facts().constants, testing::IsSupersetOf(ours));
}

TEST(NcclAbi, TheFakesNumbersAreThoseOfTheHeaders) {
  const Numbers fakes{{"CUDA_SUCCESS", kFakeCudaSuccess},
                      {"CUDA_ERROR_INVALID_VALUE", kFakeCudaInvalidValue},
                      {"CUDA_ERROR_OUT_OF_MEMORY", kFakeCudaOutOfMemory},
                      {"CUDA_ERROR_NO_DEVICE", kFakeCudaNoDevice},
                      {"CUDA_ERROR_NOT_READY", kFakeCudaNotReady},
                      {"ncclSuccess", kFakeNcclSuccess},
                      {"ncclUnhandledCudaError", kFakeNcclUnhandledCudaError},
                      {"ncclSystemError", kFakeNcclSystemError},
                      {"ncclInvalidArgument", kFakeNcclInvalidArgument},
                      {"ncclInvalidUsage", kFakeNcclInvalidUsage},
                      {"ncclFloat32", kFakeNcclFloat32},
                      {"ncclSum", kFakeNcclSum}};
  EXPECT_THAT(nccl_facts().constants, testing::IsSupersetOf(fakes));
}

TEST(NcclAbi, OurTypesAndTheFakesHaveTheSizesOfTheHeaders) {
  const Numbers ours{{"CUdevice", sizeof(cuda::Device)},
                     {"CUdeviceptr", sizeof(cuda::Address)},
                     {"CUresult", sizeof(cuda::ReturnCode)},
                     {"ncclResult_t", sizeof(nccl::ReturnCode)},
                     {"ncclUniqueId", sizeof(nccl::Id)}};
  EXPECT_EQ(nccl_facts().sizes, ours);
  EXPECT_EQ(sizeof(FakeNcclId), sizeof(nccl::Id));
  EXPECT_EQ(sizeof(exporter::nccl_pair::UniqueId), sizeof(nccl::Id));
}

// nccl_facts.c checks the form of each function: it does not compile otherwise.
TEST(NcclAbi, EveryFunctionThatIsCalledIsOneOfTheHeaders) {
  std::set<std::string> called;
  for (const char* header : {"cuda_abi.h", "nccl_abi.h"}) {
    const std::string text =
        read_file(std::string(GPUWARD_SOURCE_DIR "/exporter/nccl_pair/") + header).value_or("");
    const std::regex name("\"((cu|nccl)\\w+)\"");
    for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
      called.insert((*it)[1]);
  }
  EXPECT_EQ(called, nccl_facts().functions);
}

TEST(NcclAbi, TheFakeHasEveryFunction) {
  auto library = exporter::nvml::SharedObject::open(GPUWARD_BIN_DIR "/../lib/fakes/libnccl.so.2");
  ASSERT_TRUE(library) << library.error().message;
  for (const std::string& name : nccl_facts().functions)
    EXPECT_NE(library->find(name.c_str()), nullptr) << name;
}

}  // namespace
}  // namespace gpuward::abi
