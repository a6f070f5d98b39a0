#include "exporter/gpu/nvidia/read_device.h"

#include <utility>

namespace gpuward::exporter::nvml {
namespace {

// NVML keeps the order of its GPUs while it is initialised, so the identity seen at an index is
// still valid.
void recall_identity(const KnownDevice& known, std::uint32_t index, Gpu& gpu) {
  if (gpu.uuid.empty()) gpu.uuid = known.gpu.uuid;
  if (!gpu.has_address()) gpu.pci = known.gpu.pci;
  if (gpu.serial.empty()) gpu.serial = known.gpu.serial;
  if (gpu.name.empty()) gpu.name = known.gpu.name;
  gpu.index = static_cast<int>(index);
  gpu.vendor = Vendor::kNvidia;
}

std::string name_in_progress(const Gpu& gpu) {
  return gpu.has_address() ? gpu.pci.bus_id() : "GPU " + std::to_string(gpu.index);
}

void take_complaint(const Session& session, const DeviceQuery::Complaint& complaint,
                    GpuReading& reading) {
  if (complaint.code == kSuccess) return;
  reading.is_lost = complaint.code == kGpuIsLost;
  reading.fault = session.words(complaint.function, complaint.code);
}

void take_reset(const Session& session, const char* function, GpuReading& reading) {
  if (function != nullptr) reading.reset_required = session.words(function, kResetRequired);
}

enum class Identity : std::uint8_t { kOver, kInPart, kWhole };

// kOver: no more queries to the GPU are possible.
Identity identify(const Session& session, const ReadingPlan& plan, const KnownDevice& known,
                  DeviceAnswer& answer) {
  DeviceQuery query(session.symbols(), answer.device, plan.is_thorough, known.refuses);
  const int index = answer.reading.gpu.index;
  read_identity(query, known, answer.reading);
  recall_identity(known, static_cast<std::uint32_t>(index), answer.reading.gpu);
  take_reset(session, query.wants_reset(), answer.reading);
  // The GPU may refuse its identity, but report the rest.
  if (query.is_over()) take_complaint(session, query.complaint(), answer.reading);
  answer.wants_reopen = query.wants_reopen();
  if (query.is_over()) return Identity::kOver;
  return query.has_failed() ? Identity::kInPart : Identity::kWhole;
}

void read_groups(const Session& session, const ReadingPlan& plan, Identity identity,
                 KnownDevice& known, DeviceAnswer& answer) {
  const bool is_thorough = plan.is_thorough || !known.rare;
  DeviceQuery query(session.symbols(), answer.device, is_thorough, known.refuses);
  for (const Group& group : groups()) {
    if (query.is_over()) break;
    plan.progress(name_in_progress(answer.reading.gpu) + " " + std::string(group.name));
    group.read(query, known, answer.reading);
  }
  // The next reading asks again for refused values.
  const bool is_whole = identity == Identity::kWhole && !query.has_failed();
  if (is_thorough && is_whole) known.rare = answer.reading;
  take_reset(session, query.wants_reset(), answer.reading);
  take_complaint(session, query.complaint(), answer.reading);
  answer.wants_reopen |= query.wants_reopen();
}

DeviceAnswer leave_out(DeviceAnswer answer) {
  answer.device = nullptr;
  answer.wants_reopen = false;
  answer.reading.is_hung = true;
  answer.reading.fault = "left out";
  return answer;
}

}  // namespace

DeviceAnswer read_device(const Session& session, std::uint32_t index, const ReadingPlan& plan,
                         KnownDevice& known) {
  DeviceAnswer answer;
  recall_identity(known, index, answer.reading.gpu);
  if (!plan.choice.asks_index(answer.reading.gpu.index)) return leave_out(std::move(answer));
  plan.progress(name_in_progress(answer.reading.gpu) + " handle");
  const ReturnCode code = session.symbols().handle(index, &answer.device);
  if (code != kSuccess) {
    answer.device = nullptr;
    answer.wants_reopen = means_reopen(code);
    const char* const function = session.symbols().handle.name();
    take_complaint(session, {code, function}, answer.reading);
    take_reset(session, code == kResetRequired ? function : nullptr, answer.reading);
    return answer;
  }
  plan.progress(name_in_progress(answer.reading.gpu) + " identity");
  const Identity identity = identify(session, plan, known, answer);
  if (identity == Identity::kOver) return answer;
  known.gpu = answer.reading.gpu;
  if (!plan.choice.asks_address(known.gpu.pci)) return leave_out(std::move(answer));
  read_groups(session, plan, identity, known, answer);
  return answer;
}

}  // namespace gpuward::exporter::nvml
