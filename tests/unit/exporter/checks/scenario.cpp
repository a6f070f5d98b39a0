#include "tests/unit/exporter/checks/scenario.h"

#include <algorithm>
#include <utility>

namespace gpuward::exporter {
namespace {

constexpr std::uint32_t kLinks = 18;  // of an H100

std::vector<Link> healthy_links() {
  std::vector<Link> links;
  for (std::uint32_t number = 0; number < kLinks; ++number) {
    Link link;
    link.number = number;
    link.active = true;
    link.replay_errors = link.recovery_errors = link.crc_flit_errors = 0;
    links.push_back(link);
  }
  return links;
}

GpuReading healthy_gpu(std::size_t index) {
  GpuReading reading;
  reading.gpu.index = static_cast<int>(index);
  reading.gpu.uuid = "GPU-0000000" + std::to_string(index);
  reading.gpu.pci = *parse_pci_address(Scenario::bus_id(index));
  reading.gpu.name = "NVIDIA H100 80GB HBM3";
  reading.ecc_enabled = true;
  reading.persistence_mode = true;
  reading.mig_enabled = false;
  reading.ecc.uncorrected_volatile.total = 0;
  reading.sram_threshold_exceeded = false;
  reading.rows.pending = reading.rows.failure = false;
  reading.thermals.gpu = 41;
  reading.thermals.slowdown_threshold = 89;
  reading.slowdown.reasons = 1;  // idle
  reading.pcie = {.generation = 5, .generation_max = 5, .width = 16, .width_max = 16, .replays = 0};
  reading.links = healthy_links();
  reading.fabric = {.state = 3, .status = 0, .health_mask = 0xAA, .health_summary = 1};
  reading.recovery_action = 0;
  reading.utilization_ratio = 0;
  reading.processes.emplace();
  return reading;
}

std::vector<PeerStatus> healthy_peers(unsigned gpus) {
  std::vector<PeerStatus> peers;
  for (std::uint32_t from = 0; from < gpus; ++from) {
    for (std::uint32_t to = 0; to < gpus; ++to) {
      if (from != to) peers.push_back({from, to, 0, 0, 0, 50});
    }
  }
  return peers;
}

}  // namespace

Scenario::Scenario(unsigned gpus) : now(std::chrono::seconds(1'800'000'000)) {
  VendorReading nvidia;
  nvidia.state = LibraryState::kReady;
  nvidia.library = "libnvidia-ml.so.1";
  facts.pci_gpus.emplace();
  for (unsigned index = 0; index < gpus; ++index) {
    nvidia.gpus.push_back(healthy_gpu(index));
    facts.pci_gpus->push_back(
        {.vendor = Vendor::kNvidia, .bus_id = bus_id(index), .driver = "nvidia"});
  }
  nvidia.peers = healthy_peers(gpus);
  report.vendors.push_back(std::move(nvidia));
  facts.since_boot = std::chrono::hours(1);
  facts.since_driver_load = std::chrono::minutes(59);
  known.boot_id = "boot-2";
  profile = InstanceProfile{"p5.48xlarge", gpus, 32, true, "efa"};
  known.machine.machine.system_uuid = "ec2e1916-9099-7caf-fd21-012345abcdef";
  if (gpus > 0) known.machine.most[Vendor::kNvidia] = gpus;
  known.machine.efa_devices = 32;
}

void Scenario::forget_machine() {
  profile.reset();
  known.machine = {};
}

void Scenario::remember_links() { known.machine.learn_links(report, known.boot_id); }

std::string Scenario::bus_id(std::size_t index) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("0000:") + kDigits[index + 5] + "e:00";
}

void Scenario::take_out_of_driver(std::size_t index) {
  std::erase_if(report.vendors[0].gpus, [&](const GpuReading& reading) {
    return reading.gpu.pci.bus_id() == bus_id(index);
  });
}

void Scenario::take_off_bus(std::size_t index) {
  std::erase_if(*facts.pci_gpus, [&](const PciGpu& gpu) { return gpu.bus_id == bus_id(index); });
}

void Scenario::kernel_has(const std::string& check, const std::string& code, const std::string& pci,
                          Severity severity, Evidence evidence) {
  Finding finding;
  finding.check = check;
  finding.code = code;
  finding.pci_bus_id = pci;
  finding.severity = severity;
  finding.evidence = evidence;
  finding.first_boot_id = finding.last_boot_id = known.boot_id;
  finding.first_seen = finding.last_seen = now - std::chrono::minutes(1);
  known.findings[{check, code, pci, evidence}] = finding;
}

void Scenario::was_found_before_the_reboot(const std::string& code, const std::string& pci) {
  Finding finding;
  finding.check = kGpuCheck;
  finding.code = code;
  finding.pci_bus_id = pci;
  finding.evidence = Evidence::kMeasured;
  finding.cleared_by = ClearedBy::kCheck;
  finding.first_boot_id = "boot-1";
  known.findings[{finding.check, code, pci, Evidence::kMeasured}] = finding;
}

Snapshot Scenario::make_snapshot() const {
  Snapshot snapshot;
  snapshot.state = known;
  snapshot.instance.source = instance_source;
  snapshot.telemetry.state = state;
  snapshot.telemetry.fault = fault;
  snapshot.telemetry.hung_at = hung_at;
  snapshot.telemetry.read_at = now;
  snapshot.telemetry.report = std::make_shared<GpuReport>(report);
  return snapshot;
}

CheckOutcome Scenario::judge() const {
  const Snapshot snapshot = make_snapshot();
  return judge_gpus({snapshot, settings, profile, facts, now, nullptr});
}

Fabric fabric_in(std::uint32_t state) {
  Fabric fabric;
  fabric.state = state;
  return fabric;
}

Scenario amd_scenario_node() {
  Scenario node(0);
  node.profile.reset();
  VendorReading amd;
  amd.vendor = Vendor::kAmd;
  amd.state = LibraryState::kReady;
  GpuReading& reading = amd.gpus.emplace_back();
  reading.gpu.vendor = Vendor::kAmd;
  reading.gpu.pci = *parse_pci_address("0000:05:00.0");
  node.report.vendors = {amd};
  node.facts.pci_gpus->push_back(
      {.vendor = Vendor::kAmd, .bus_id = "0000:05:00", .driver = "amdgpu"});
  return node;
}

const Finding* find_finding(const CheckOutcome& outcome, std::string_view code,
                            std::string_view pci) {
  const auto found = std::ranges::find_if(outcome.findings, [&](const Finding& finding) {
    return finding.code == code && (pci.empty() || finding.pci_bus_id == pci);
  });
  return found == outcome.findings.end() ? nullptr : &*found;
}

Severity severity_of(const CheckOutcome& outcome, std::string_view code) {
  const Finding* const finding = find_finding(outcome, code);
  return finding == nullptr ? Severity::kNone : finding->severity;
}

std::string codes_of(const CheckOutcome& outcome) {
  std::string codes;
  for (const Finding& finding : outcome.findings) {
    codes += (codes.empty() ? "" : ", ") + finding.code;
  }
  return codes;
}

}  // namespace gpuward::exporter
