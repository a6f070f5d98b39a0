#include "tests/simulation/trace.h"

#include <chrono>

namespace gpuward::remediator::simulation {
namespace {

constexpr std::size_t kKept = 200;

}  // namespace

void Trace::say(const std::string& what) {
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - begun_);
  std::string line = std::to_string(since.count()) + "ms " + what;
  for (const char c : line) {
    hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  ++lines_;
  last_.push_back(std::move(line));
  if (last_.size() > kKept) last_.pop_front();
}

}  // namespace gpuward::remediator::simulation
