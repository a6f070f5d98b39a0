#include "tests/fakes/nccl/device_memory.h"

#include <memory>
#include <set>

#include "tests/fakes/nccl/scene.h"

namespace gpuward::fake_nccl {
namespace {

// The upper bits of an address are the buffer's number.
constexpr unsigned kShift = 40;

std::vector<std::unique_ptr<DeviceBuffer>>& buffers() {
  static std::vector<std::unique_ptr<DeviceBuffer>> all;
  return all;
}

}  // namespace

void DeviceBuffer::set(const Run& run) {
  std::erase_if(runs_,
                [&](const Run& old) { return old.begin >= run.begin && old.end <= run.end; });
  runs_.push_back(run);
}

std::uint32_t DeviceBuffer::at(std::size_t index) const {
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    if (index >= run->begin && index < run->end) return run->value;
  }
  return 0;
}

std::vector<Run> DeviceBuffer::first(std::size_t count) const {
  std::set<std::size_t> borders{0, count};
  for (const Run& run : runs_) {
    for (const std::size_t border : {run.begin, run.end}) {
      if (border < count) borders.insert(border);
    }
  }
  std::vector<Run> found;
  for (auto begin = borders.begin(), end = std::next(begin); end != borders.end(); ++begin, ++end)
    found.push_back({*begin, *end, at(*begin)});
  return found;
}

unsigned long long free_bytes(int device) {
  unsigned long long left = scene().free_mib << 20U;
  for (const auto& buffer : buffers()) {
    if (buffer->device() == device) left -= buffer->values() * sizeof(std::uint32_t);
  }
  return left;
}

unsigned long long allocate(int device, std::size_t bytes) {
  if (bytes > free_bytes(device)) return 0;
  buffers().push_back(std::make_unique<DeviceBuffer>(device, bytes));
  return static_cast<unsigned long long>(buffers().size()) << kShift;
}

Place place_of(unsigned long long address) {
  const unsigned long long number = address >> kShift;
  if (number == 0 || number > buffers().size()) return {};
  const unsigned long long offset = address & ((1ULL << kShift) - 1);
  return {buffers()[number - 1].get(), offset / sizeof(std::uint32_t)};
}

}  // namespace gpuward::fake_nccl
