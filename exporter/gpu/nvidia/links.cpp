#include "exporter/gpu/nvidia/field_values.h"
#include "exporter/gpu/nvidia/pci_text.h"
#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

Maybe<std::uint64_t> read_link_errors(DeviceQuery& query, std::uint32_t link, I32 counter) {
  std::uint64_t raw = 0;
  if (!query.tells(query.symbols().link_errors, link, counter, &raw)) return std::nullopt;
  return number_from(raw);
}

void read_counters(DeviceQuery& query, Link& link) {
  link.replay_errors = read_link_errors(query, link.number, kLinkReplay);
  link.recovery_errors = read_link_errors(query, link.number, kLinkRecovery);
  link.crc_flit_errors = read_link_errors(query, link.number, kLinkCrcFlit);
  link.crc_data_errors = read_link_errors(query, link.number, kLinkCrcData);
}

// NVLink 5 lacks these counters: each has a field, with the link as scope.
void read_counters_as_fields(DeviceQuery& query, Link& link) {
  const std::array keys{FieldKey{kFieldLinkRecoveryEvents, link.number},
                        FieldKey{kFieldLinkSymbolErrors, link.number},
                        FieldKey{kFieldLinkEffectiveErrors, link.number}};
  const auto numbers = read_fields(query, keys);
  if (numbers[0]) link.recovery_errors = numbers[0];
  link.symbol_errors = numbers[1];
  link.effective_errors = numbers[2];
}

const std::string& remote_of(DeviceQuery& query, KnownDevice& known, const Link& link) {
  std::string& remote = known.link_remotes.at(link.number);
  PciInfo info{};
  if (query.is_thorough() && query.tells(query.symbols().link_remote, link.number, &info)) {
    const auto address = address_from(info);
    remote = address ? address->bus_id() : "";
  }
  return remote;
}

bool is_nvlink_5(const GpuReading& reading) {
  return reading.architecture && *reading.architecture >= kArchitectureBlackwell;
}

void read_link(DeviceQuery& query, KnownDevice& known, const GpuReading& reading, Link& link) {
  if (!is_nvlink_5(reading)) read_counters(query, link);
  if (is_nvlink_5(reading) || !reading.architecture) read_counters_as_fields(query, link);
  if (link.active.value_or(false)) link.remote_pci_bus_id = remote_of(query, known, link);
}

template <typename Info>
bool read_versioned(DeviceQuery& query, std::uint32_t version, Info& info) {
  info.version = version_word<Info>(version);
  return query.tells(query.symbols().fabric_v, &info);
}

// NVML's status is meaningful only if the registration is complete.
template <typename Info>
void take_fabric(const Info& info, Fabric& fabric) {
  fabric.state = info.state;
  if (info.state == kFabricCompleted) fabric.status = static_cast<std::uint32_t>(info.status);
}

}  // namespace

void read_pcie(DeviceQuery& query, KnownDevice& known, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  reading.pcie.generation = query.number(nvml.pcie_generation);
  reading.pcie.width = query.number(nvml.pcie_width);
  reading.pcie.replays = query.number(nvml.pcie_replays);
  if (!query.is_thorough()) {
    reading.pcie.generation_max = known.rare->pcie.generation_max;
    reading.pcie.width_max = known.rare->pcie.width_max;
    return;
  }
  reading.pcie.generation_max = query.number(nvml.pcie_generation_max);
  reading.pcie.width_max = query.number(nvml.pcie_width_max);
}

void read_nvlink(DeviceQuery& query, KnownDevice& known, GpuReading& reading) {
  const auto count = read_field(query, kFieldLinkCount);
  const std::uint64_t links = std::min<std::uint64_t>(count.value_or(kMaxLinks), kMaxLinks);
  for (std::uint32_t number = 0; number < links; ++number) {
    std::uint32_t active = 0;
    const ReturnCode code = query.ask(query.symbols().link_state, number, &active);
    if (query.is_over() || code == kFunctionNotFound) return;
    if (code == kInvalidArgument) return;  // there are no more
    if (code == kNotSupported) {           // not wired on this board
      if (number == 0 && !count) return;
      continue;
    }
    Link link;
    link.number = number;
    if (code == kSuccess) link.active = claim_from(active);
    read_link(query, known, reading, link);
    reading.links.push_back(std::move(link));
  }
}

void read_fabric(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  Fabric& fabric = reading.fabric;
  FabricInfoV3 v3{};
  FabricInfoV2 v2{};
  FabricInfo v1{};
  if (read_versioned(query, 3, v3)) {
    take_fabric(v3, fabric);
    fabric.health_mask = v3.health_mask;
    if (v3.health_summary != kSummaryNotSupported) fabric.health_summary = v3.health_summary;
  } else if (read_versioned(query, 2, v2)) {
    take_fabric(v2, fabric);
    fabric.health_mask = v2.health_mask;
  } else if (query.tells(query.symbols().fabric, &v1)) {
    take_fabric(v1, fabric);
  }
}

}  // namespace gpuward::exporter::nvml
