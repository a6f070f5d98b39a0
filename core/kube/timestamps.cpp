#include "core/kube/timestamps.h"

#include <chrono>

#include "core/runtime/clock.h"

namespace gpuward::kube {

std::string to_micro_time(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto fraction = std::chrono::floor<std::chrono::microseconds>(time - whole);
  const std::string digits = std::to_string(fraction.count());
  std::string text = to_rfc3339(whole);
  text.pop_back();  // 'Z'
  return text + "." + std::string(6 - digits.size(), '0') + digits + "Z";
}

}  // namespace gpuward::kube
