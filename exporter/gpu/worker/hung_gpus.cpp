#include "exporter/gpu/worker/hung_gpus.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// The number of readings between a hang and the first probe: a minute at the default interval. Each
// further pause is twice as long, up to a quarter of an hour.
constexpr int kFirstPause = 4;
constexpr unsigned kMostDoublings = 4;
// A GPU that hangs again within this time has not recovered: its pauses continue to grow.
constexpr std::chrono::minutes kForgiven{30};
constexpr int kNoIndex = -1;

bool is_same(const Gpu& one, const Gpu& other) {
  if (one.has_address() && other.has_address()) return one.pci.same_device(other.pci);
  return one.vendor == other.vendor && one.index == other.index && one.index != kNoIndex;
}

// Reads "0000:4e:00 temperature" or, before its address is known, "GPU 3 identity".
std::optional<Gpu> gpu_in(std::string_view progress) {
  constexpr std::string_view kByIndex = "GPU ";
  Gpu gpu;
  gpu.index = kNoIndex;
  const bool is_by_index = progress.starts_with(kByIndex);
  if (is_by_index) progress.remove_prefix(kByIndex.size());
  const std::string_view word = progress.substr(0, progress.find(' '));
  if (is_by_index) {
    const auto index = parse_integer<int>(word);
    if (!index || *index < 0) return std::nullopt;
    gpu.index = *index;
    return gpu;
  }
  const auto pci = parse_pci_address(word);
  if (!pci) return std::nullopt;
  gpu.pci = *pci;
  return gpu;
}

}  // namespace

bool HungGpus::blame(std::string_view progress, std::string fault, const GpuReport* last,
                     Clock::Steady now) {
  const auto named = gpu_in(progress);
  if (!named || in_a_row_ >= kMostInARow) return false;
  HungGpu hung{.gpu = *named, .fault = std::move(fault), .asked_at = now};
  for (const VendorReading& vendor :
       last != nullptr ? last->vendors : std::vector<VendorReading>()) {
    for (const GpuReading& reading : vendor.gpus) {
      if (!is_same(reading.gpu, *named)) continue;
      hung.gpu = reading.gpu;
      hung.knows_vendor = true;
      if (knows_count_) hung.count = vendor.gpus.size();
    }
  }
  const auto known = std::ranges::find_if(
      gpus_, [&](const HungGpu& other) { return is_same(other.gpu, hung.gpu); });
  if (known != gpus_.end()) {
    if (known->is_left_out) return false;  // it was skipped, so it cannot have caused the hang
    if (now - known->asked_at < kForgiven) hung.pauses = known->pauses;
    gpus_.erase(known);
  }
  gpus_.push_back(std::move(hung));
  ++in_a_row_;
  return true;
}

bool HungGpus::take(HungGpu& hung, VendorReading& vendor) const {
  if (hung.count && *hung.count != vendor.gpus.size()) return false;
  for (GpuReading& reading : vendor.gpus) {
    if (!is_same(reading.gpu, hung.gpu)) continue;
    if (!reading.is_hung) return false;  // it has another index now and was read
    hung.count = vendor.gpus.size();
    const Gpu reported = reading.gpu;
    reading.gpu = hung.gpu;
    reading.gpu.index = reported.index;
    if (!reading.gpu.has_address()) reading.gpu.pci = reported.pci;
    reading.fault = hung.fault;
  }
  return true;
}

void HungGpus::learn_vendor(HungGpu& hung, const GpuReport& report) {
  if (hung.knows_vendor || !hung.gpu.has_address()) return;
  for (const VendorReading& vendor : report.vendors) {
    const GpuReading* const reading = vendor.find(hung.gpu.pci);
    if (reading == nullptr || !reading->is_hung) continue;
    hung.gpu.vendor = vendor.vendor;
    hung.knows_vendor = true;
  }
}

bool HungGpus::fill_in(GpuReport& report) {
  in_a_row_ = 0;
  for (HungGpu& hung : gpus_) {
    if (!hung.is_left_out) continue;
    learn_vendor(hung, report);
    for (VendorReading& vendor : report.vendors) {
      const bool is_meant =
          vendor.vendor == hung.gpu.vendor && vendor.state == LibraryState::kReady;
      if (!is_meant || take(hung, vendor)) continue;
      gpus_.clear();
      knows_count_ = false;
      return false;
    }
  }
  knows_count_ = true;
  return true;
}

std::vector<std::string> HungGpus::flags() const {
  std::vector<std::string> words;
  for (const HungGpu& hung : gpus_) {
    if (!hung.is_left_out) continue;
    words.emplace_back("--gpu.leave-out");
    words.push_back(to_text(name_of(hung.gpu)));
  }
  return words;
}

Clock::Steady HungGpus::due_at(const HungGpu& hung, std::chrono::milliseconds interval) {
  if (!hung.is_left_out) return Clock::Steady::max();
  return hung.asked_at + interval * (kFirstPause << std::min(hung.pauses, kMostDoublings));
}

std::optional<GpuName> HungGpus::due(Clock::Steady now, std::chrono::milliseconds interval) const {
  for (const HungGpu& hung : gpus_) {
    if (hung.is_left_out && due_at(hung, interval) <= now) return name_of(hung.gpu);
  }
  return std::nullopt;
}

Clock::Steady HungGpus::next_probe(std::chrono::milliseconds interval) const {
  Clock::Steady next = Clock::Steady::max();
  for (const HungGpu& hung : gpus_) next = std::min(next, due_at(hung, interval));
  return next;
}

void HungGpus::probed(const GpuName& name, bool has_answered, Clock::Steady now) {
  for (HungGpu& hung : gpus_) {
    if (!hung.is_left_out || name_of(hung.gpu) != name) continue;
    hung.is_left_out = !has_answered;
    hung.asked_at = now;
    ++hung.pauses;
  }
}

}  // namespace gpuward::exporter
