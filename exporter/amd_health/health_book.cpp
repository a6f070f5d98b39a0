#include "exporter/amd_health/health_book.h"

#include <algorithm>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward::exporter::amd_health {
namespace {

GpuState parse_gpu(const Json& given) {
  GpuState gpu{string_at(given, "id"),
               string_at(given, "uuid"),
               string_at(given, "health", "unknown"),
               string_at(given, "device"),
               {}};
  for (const Json& workload : member_at(given, "workloads")) {
    if (workload.is_string()) gpu.workloads.push_back(workload.get<std::string>());
  }
  return gpu;
}

std::map<std::string, std::uint64_t> parse_thresholds(const Json& given) {
  std::map<std::string, std::uint64_t> thresholds;
  if (!given.is_object()) return thresholds;
  for (const auto& [field, most] : given.items()) {
    if (most.is_number_unsigned()) thresholds[field] = most.get<std::uint64_t>();
  }
  return thresholds;
}

std::unexpected<Error> not_available() {
  return fail(ErrorKind::kUnavailable, "health status not available");
}

}  // namespace

Status HealthBook::take(std::string_view line) {
  const auto read = parse_json(line);
  if (!read) return std::unexpected(read.error());
  const Json& gpus = member_at(*read, "gpus");
  const Json& is_known = member_at(*read, "is_known");
  if (!gpus.is_array() || !is_known.is_boolean()) {
    return fail(ErrorKind::kInvalid, "gpus or is_known is missing or invalid");
  }
  std::vector<GpuState> states;
  for (const Json& gpu : gpus) states.push_back(parse_gpu(gpu));
  const std::lock_guard lock(mutex_);
  thresholds_ = parse_thresholds(member_at(*read, "thresholds"));
  gpus_.reset();
  if (is_known.get<bool>()) gpus_ = std::move(states);
  return {};
}

Result<std::vector<GpuState>> HealthBook::list() const {
  const std::lock_guard lock(mutex_);
  if (!gpus_) return not_available();
  std::vector<GpuState> states;
  for (const GpuState& gpu : *gpus_) states.push_back(seen(gpu));
  return states;
}

Result<std::vector<GpuState>> HealthBook::find(const std::vector<std::string>& ids) const {
  auto all = list();
  if (!all) return all;
  std::vector<GpuState> wanted;
  for (const std::string& id : ids) {
    const auto found = std::ranges::find(*all, id, &GpuState::id);
    if (found != all->end()) wanted.push_back(*found);
  }
  return wanted;
}

Status HealthBook::pretend(const std::string& id, const Counts& counts) {
  const std::lock_guard lock(mutex_);
  if (!gpus_) return not_available();
  if (std::ranges::find(*gpus_, id, &GpuState::id) == gpus_->end()) {
    return fail(ErrorKind::kNotFound, "no GPU has the id " + id);
  }
  for (const auto& [field, count] : counts) {
    if (!thresholds_.contains(field)) {
      return fail(ErrorKind::kInvalid, "no threshold has the name " + field);
    }
  }
  for (const auto& [field, count] : counts) pretended_[id][field] = count;
  return {};
}

GpuState HealthBook::seen(const GpuState& gpu) const {
  GpuState state = gpu;
  const auto pretended = pretended_.find(gpu.id);
  if (pretended == pretended_.end()) return state;
  for (const auto& [field, count] : pretended->second) {
    const auto most = thresholds_.find(field);
    if (most != thresholds_.end() && count > most->second) state.health = "unhealthy";
  }
  return state;
}

}  // namespace gpuward::exporter::amd_health
