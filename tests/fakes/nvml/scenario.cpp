#include "tests/fakes/nvml/scenario.h"

#include <cerrno>
#include <cstdlib>

namespace gpuward::fake_nvml {
namespace {

Value value_in(const std::string* text) {
  if (text == nullptr) return {kFakeNotSupported, {}, false};
  if (text->starts_with('!')) return {std::atoi(text->c_str() + 1), {}};
  return {kFakeSuccess, *text};
}

}  // namespace

Value Scenario::of(const std::string& key) const { return value_in(find(key)); }

Value Scenario::of_gpu(int gpu, const std::string& key) const {
  return value_in(ScenarioLines::of_gpu("gpu", static_cast<std::size_t>(gpu), key));
}

std::optional<long long> to_number(const std::string& text) {
  const bool is_hex = text.starts_with("0x");
  char* end = nullptr;
  errno = 0;
  // Parsed as unsigned first: NVML's sentinels fill all 64 bits.
  const long long value =
      text.starts_with('-')
          ? std::strtoll(text.c_str(), &end, 10)
          : static_cast<long long>(std::strtoull(text.c_str(), &end, is_hex ? 16 : 10));
  if (text.empty() || *end != '\0' || errno != 0) return std::nullopt;
  return value;
}

}  // namespace gpuward::fake_nvml
