#include "tests/unit/exporter/publish/filled_snapshot.h"

#include <algorithm>

#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

constexpr int kLinks = 18;

Gpu gpu_of(int index, Vendor vendor) {
  Gpu gpu;
  gpu.index = index;
  gpu.uuid = "GPU-" + std::to_string(index);
  gpu.pci = {.domain = 0,
             .bus = static_cast<std::uint8_t>(0x40 + index),
             .device = 0,
             .function = std::uint8_t{0}};
  gpu.serial = "165000000" + std::to_string(index);
  gpu.name = vendor == Vendor::kNvidia ? "NVIDIA H200" : "AMD Instinct MI300X";
  gpu.vendor = vendor;
  return gpu;
}

void fill_memory(GpuReading& reading) {
  reading.ecc_enabled = reading.ecc_pending = true;
  reading.ecc = {.corrected_volatile = {3, 1, 2},
                 .uncorrected_volatile = {1, 0, 1},
                 .corrected_aggregate = {30, 10, 20},
                 .uncorrected_aggregate = {4, 2, 2}};
  reading.sram_unc_parity = 1;
  reading.sram_unc_secded = 1;
  reading.sram_threshold_exceeded = false;
  reading.retired = {.single_bit = 2, .double_bit = 1, .pending = false};
  reading.rows = {.correctable = 1,
                  .uncorrectable = 2,
                  .pending = true,
                  .failure = false,
                  .banks_max = 600,
                  .banks_high = 30,
                  .banks_partial = 8,
                  .banks_low = 2,
                  .banks_none = 0};
  reading.memory_total_bytes = 150'754'820'096;
  reading.memory_used_bytes = 1'073'741'824;
  reading.memory_free_bytes = 149'681'078'272;
}

void fill_load(GpuReading& reading) {
  reading.thermals = {.gpu = 41,
                      .memory = 48,
                      .hotspot = std::nullopt,
                      .margin = 46,
                      .slowdown_threshold = 87,
                      .shutdown_threshold = 92,
                      .memory_threshold = 95,
                      .shutdown_margin = -5,
                      .slowdown_margin = -2,
                      .memory_margin = 0,
                      .gpu_margin = 1};
  reading.power = {.usage_watts = 120.5,
                   .limit_watts = 700,
                   .default_limit_watts = 700,
                   .energy_joules = 1'234'567.5};
  reading.slowdown = {
      .reasons = 0x4 | 0x40, .power_violation_seconds = 1.5, .thermal_violation_seconds = 0.25};
  reading.pcie = {.generation = 5, .generation_max = 5, .width = 16, .width_max = 16, .replays = 7};
  reading.sm_clock_mhz = 1980;
  reading.memory_clock_mhz = 3201;
  reading.utilization_ratio = 0.5;
  reading.memory_utilization_ratio = 0.25;
}

void fill_links(GpuReading& reading) {
  for (std::uint32_t number = 0; number < kLinks; ++number) {
    Link link;
    link.number = number;
    link.active = true;
    link.replay_errors = 1;
    link.recovery_errors = 2;
    link.crc_flit_errors = 3;
    link.crc_data_errors = 4;
    link.symbol_errors = 5;
    link.effective_errors = 6;
    link.remote_pci_bus_id = "0000:05:00";
    reading.links.push_back(link);
  }
  // Degraded bandwidth false, route recovery true, route unhealthy and access timeout false.
  reading.fabric = {.state = 3, .status = 0, .health_mask = 0b1'10'10'01'10, .health_summary = 1};
}

// The blocks that amdgpu may have counters for (drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c,
// ras_block_string).
void fill_ras(GpuReading& reading) {
  for (const char* block :
       {"umc", "sdma", "gfx", "mmhub", "athub", "pcie_bif", "hdp", "xgmi_wafl", "df", "smn", "sem",
        "mp0", "mp1", "fuse", "mca", "vcn", "jpeg", "ih", "mpio"}) {
    reading.ras.push_back({.block = block, .corrected = 1, .uncorrected = 0, .deferred = 0});
  }
}

// The readings that amdgpu has; the rest is NVIDIA's alone.
GpuReading amd_reading(int index) {
  GpuReading reading;
  reading.gpu = gpu_of(index, Vendor::kAmd);
  reading.vbios_version = "113-M3000100-103";
  fill_load(reading);
  reading.slowdown = {};
  reading.thermals.hotspot = 52;
  fill_links(reading);
  reading.fabric = {};
  fill_ras(reading);
  reading.bad_pages = 3;
  reading.compute_partition = "SPX";
  reading.memory_partition = "NPS1";
  reading.is_in_kfd = true;
  reading.memory_total_bytes = 206'141'652'992;
  reading.memory_used_bytes = 297'000'000;
  return reading;
}

CheckResult check(const std::string& name, CheckStatus status) {
  CheckResult result;
  result.check = name;
  result.status = status;
  result.severity = status == CheckStatus::kFail ? Severity::kReset : Severity::kNone;
  result.started = at_second(7);
  result.duration = std::chrono::milliseconds(1'500);
  return result;
}

RdmaReading rdma(const std::string& device, bool is_efa) {
  RdmaReading reading;
  reading.device = device;
  reading.pci_bus_id = "0000:56:00";
  reading.is_efa = is_efa;
  reading.counters["1"] = {{"rx_drops", 5}, {"lifespan", 12}};
  if (is_efa) {
    reading.counters[""] = {{"alloc_pd_err", 0}};
  } else {
    reading.ports["1"] = {.state = 4, .phys_state = 5, .rate_gbits = 400.0};
  }
  return reading;
}

State filled_state(const std::vector<Gpu>& gpus) {
  LatchedState ledger{State{}};
  ledger.enter_boot("b1", at_second(0));
  for (const Gpu& gpu : gpus) {
    Observation xid = observe_xid({.code = 79, .pci = gpu.pci.full()});
    ledger.observe(xid);
    xid.is_driver_event = true;
    ledger.observe(xid);
  }
  Observation sxid = observe_xid({.code = 12028, .pci = "0000:05:00.0"});
  sxid.event.kind = xid::Kind::kSxid;
  sxid.event.switch_name = "nvidia-nvswitch3";
  ledger.observe(sxid);
  Observation edac = observe_xid({.code = 0, .severity = Severity::kMonitor});
  edac.event.kind = xid::Kind::kEdac;
  edac.event.label = "CE";
  edac.event.pci.reset();
  ledger.observe(edac);
  ledger.apply_check(check("0-nvidia-smi", CheckStatus::kPass), false);
  ledger.apply_check(check("2-efa", CheckStatus::kFail), false);
  return ledger.state();
}

}  // namespace

GpuReading filled_reading(int index, Vendor vendor) {
  if (vendor == Vendor::kAmd) return amd_reading(index);
  GpuReading reading;
  reading.gpu = gpu_of(index, vendor);
  reading.vbios_version = "96.00.74.00.01";
  reading.part_number = "692-2G520-0280-001";
  reading.minor_number = static_cast<std::uint32_t>(index);
  reading.architecture = 9;
  reading.persistence_mode = true;
  reading.mig_enabled = false;
  reading.recovery_action = 0;
  reading.processes = std::vector<GpuProcess>{{.pid = 4711, .used_bytes = 1}};
  fill_memory(reading);
  fill_load(reading);
  fill_links(reading);
  return reading;
}

void set_readings(std::vector<GpuReading> readings, Snapshot& snapshot) {
  auto report = std::make_shared<GpuReport>();
  snapshot.gpus.clear();
  for (const GpuReading& reading : readings) snapshot.gpus.push_back(reading.gpu);
  report->vendors.push_back({.vendor = readings.empty() ? Vendor::kNvidia : readings[0].gpu.vendor,
                             .state = LibraryState::kReady,
                             .fault = "",
                             .library = "libnvidia-ml.so.1",
                             .driver_version = "570.133.20",
                             .library_version = "12.570.133.20",
                             .gpus = std::move(readings),
                             .peers = {}});
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = std::move(report);
  snapshot.telemetry.read_at = at_second(9);
  snapshot.telemetry.read_duration = std::chrono::milliseconds(120);
}

Snapshot filled_snapshot(int gpus, Vendor vendor) {
  Snapshot snapshot;
  std::vector<GpuReading> readings;
  for (int i = 0; i < gpus; ++i) readings.push_back(filled_reading(i, vendor));
  set_readings(std::move(readings), snapshot);
  snapshot.state = filled_state(snapshot.gpus);
  snapshot.health.kernel_log_fault.reset();
  snapshot.health.node =
      NodePublishing{.fault = std::nullopt, .failures = 2, .last_success = at_second(8)};
  snapshot.health.loki = LokiPushing{.fault = std::nullopt, .sent = 7, .lost = 1};
  snapshot.workloads.is_known = true;
  for (const Gpu& gpu : snapshot.gpus) {
    snapshot.workloads.by_device[gpu.uuid] = {{"team-a", "train-0", "worker"}};
  }
  snapshot.instance = {.type = "p5en.48xlarge",
                       .source = "imds",
                       .has_profile = true,
                       .gpus_expected = 8,
                       .efa_expected = 16,
                       .gpus_on_pci = 8};
  snapshot.announced = {.cloud = "aws",
                        .is_read = true,
                        .fault = {},
                        .last_read = snapshot.health.last_good_reload,
                        .is_stale = false,
                        .list = {{.id = "instance-event-1",
                                  .kind = AnnouncementKind::kReboot,
                                  .announced_by = "aws",
                                  .what = "system-reboot: scheduled reboot",
                                  .start = snapshot.health.last_good_reload,
                                  .end = snapshot.health.last_good_reload}}};
  Drill drill;
  drill.finding.check = "xid";
  drill.finding.code = "79";
  drill.finding.pci_bus_id = snapshot.gpus.front().pci.bus_id();
  drill.finding.severity = Severity::kReboot;
  drill.until = snapshot.health.last_good_reload;
  snapshot.drills = {drill};
  snapshot.rdma = {rdma("rdmap86s0", true), rdma("mlx5_0", false)};
  return snapshot;
}

}  // namespace gpuward::exporter
