// libFuzzer's door to the reader of the kubelet's answers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/pod_resources_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gpuward::fuzz::check_pod_resources({reinterpret_cast<const char*>(data), size});
  return 0;
}
