// libFuzzer's door to the kernel-log reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/parser_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gpuward::fuzz::check_parser({reinterpret_cast<const char*>(data), size});
  return 0;
}
