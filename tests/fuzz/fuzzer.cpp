// The entry point of libFuzzer to the target that it is linked with.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gpuward::fuzz::check_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
