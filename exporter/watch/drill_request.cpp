#include "exporter/watch/drill_request.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/rules/gpu_rules.h"
#include "exporter/watch/kernel_log_watcher.h"

namespace gpuward::exporter {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"xid", "ecc", "gpu-lost", "end"};
constexpr std::uint64_t kHighestXid = 9'999;
constexpr std::uint64_t kMostErrors = 1'000'000;

constexpr std::uint32_t kFallenOffBus = 79;
// Long enough for the driver to have settled.
constexpr std::chrono::hours kLongAgo{24};

// Returns the line as the driver would write it.
std::string xid_line(std::uint64_t code, const Gpu& gpu) {
  return "NVRM: Xid (PCI:" + gpu.pci.bus_id() + "): " + std::to_string(code) +
         ", pid='<unknown>', name=<unknown>, gpuward drill";
}

Result<Finding> finding_of_line(const DrillRequest& request, const Gpu& gpu,
                                const Snapshot& snapshot, const Policy& policy, WallTime now) {
  const std::string line = xid_line(request.number, gpu);
  LogBatch batch;
  LogRecord record;
  record.text = line;
  add_record(record, {policy, snapshot.gpus, now}, batch);
  const auto seen = std::ranges::find_if(
      batch.observations, [](const Observation& one) { return one.event.kind == xid::Kind::kXid; });
  if (seen == batch.observations.end() || seen->verdict.severity == Severity::kNone)
    return fail(ErrorKind::kInvalid,
                "Xid " + std::to_string(request.number) + " is not a finding on this node");
  Finding finding;
  finding.check = std::string(xid::to_string(seen->event.kind));
  finding.code = std::to_string(seen->event.code);
  finding.severity = seen->verdict.severity;
  finding.cleared_by = seen->verdict.cleared_by;
  finding.line = seen->line;
  finding.why = seen->verdict.why;
  return finding;
}

// Returns the driver's reading of the GPU, for the drill to change; a reading with only the GPU if
// the driver has not reported it yet.
GpuReading& reading_in(GpuReport& report, const Gpu& gpu) {
  for (VendorReading& vendor : report.vendors) {
    for (GpuReading& reading : vendor.gpus) {
      if (reading.gpu.pci.same_device(gpu.pci)) return reading;
    }
  }
  VendorReading& added = report.vendors.emplace_back();
  added.vendor = gpu.vendor;
  added.state = LibraryState::kReady;
  GpuReading& reading = added.gpus.emplace_back();
  reading.gpu = gpu;
  return reading;
}

void fake_ecc(std::uint64_t errors, GpuReading& reading) {
  reading.ecc_enabled = true;
  reading.ecc.uncorrected_volatile.total = errors;
}

// The driver has lost the GPU and the kernel agrees, because one source alone would give severity
// monitor.
void fake_loss(const Gpu& gpu, WallTime now, GpuReading& reading, State& state) {
  reading.is_lost = true;
  state.findings.clear();
  if (state.boot_id.empty()) state.boot_id = "drill";
  Finding xid;
  xid.check = "xid";
  xid.code = std::to_string(kFallenOffBus);
  xid.pci_bus_id = gpu.pci.bus_id();
  xid.severity = Severity::kReboot;
  xid.first_seen = xid.last_seen = now;
  xid.first_boot_id = xid.last_boot_id = state.boot_id;
  state.findings.insert_or_assign({xid.check, xid.code, xid.pci_bus_id, Evidence::kKernel}, xid);
}

Result<Finding> finding_of_reading(const DrillRequest& request, const Gpu& gpu, Snapshot faked,
                                   const Policy& policy, WallTime now) {
  GpuReport report = faked.telemetry.report ? *faked.telemetry.report : GpuReport();
  GpuReading& reading = reading_in(report, gpu);
  const bool is_ecc = request.kind == DrillKind::kEcc;
  if (is_ecc) {
    fake_ecc(request.number, reading);
  } else {
    fake_loss(gpu, now, reading, faked.state);
  }
  faked.telemetry.is_asked = true;
  faked.telemetry.state = WorkerState::kAnswering;
  faked.telemetry.report = std::make_shared<const GpuReport>(std::move(report));
  const CheckSettings& settings = policy.settings.checks;
  const auto named = settings.profiles.find(faked.instance.type);
  const CheckOutcome outcome =
      judge_gpus({.snapshot = faked,
                  .settings = settings,
                  .profile = named,
                  .facts = {.pci_gpus = {}, .since_boot = kLongAgo, .since_driver_load = kLongAgo},
                  .now = now,
                  .replays_per_minute = {}});
  const std::string code(name_of(is_ecc ? Code::kEccUncorrected : Code::kGpuLost));
  const std::string bus_id = gpu.pci.bus_id();
  const auto found = std::ranges::find_if(outcome.findings, [&](const Finding& one) {
    return one.code == code && one.pci_bus_id == bus_id;
  });
  if (found == outcome.findings.end())
    return fail(ErrorKind::kInvalid, "this node's rules produce no finding for this fault");
  Finding finding = *found;
  finding.check = std::string(kGpuCheck);
  // No check examines it again, so the repair of such a fault ends it.
  finding.cleared_by =
      finding.severity <= Severity::kReset ? ClearedBy::kGpuReset : ClearedBy::kReboot;
  finding.line = "gpuward drill: " + finding.line;
  return finding;
}

}  // namespace

std::string_view to_string(DrillKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string to_json(const DrillRequest& request) {
  return dump_json({{"kind", std::string(to_string(request.kind))},
                    {"number", request.number},
                    {"gpu", request.gpu},
                    {"seconds", request.lasts.count()}});
}

Result<DrillRequest> parse_drill_request(std::string_view text) {
  const auto json = parse_json(text, {.max_bytes = 4096, .max_depth = 2, .max_values = 16});
  if (!json) return std::unexpected(json.error());
  const auto kind = enumerator_of<DrillKind>(kKinds, string_at(*json, "kind"));
  if (!kind) return fail(ErrorKind::kInvalid, "kind: must be one of xid, ecc, gpu-lost, end");
  const Json& number = member_at(*json, "number");
  const Json& seconds = member_at(*json, "seconds");
  if (!number.is_number_unsigned() || !seconds.is_number_unsigned())
    return fail(ErrorKind::kInvalid, "number and seconds: must be whole numbers");
  DrillRequest request{.kind = *kind,
                       .number = number.get<std::uint64_t>(),
                       .gpu = string_at(*json, "gpu"),
                       .lasts = std::chrono::seconds(seconds.get<std::int64_t>())};
  const bool is_counted = *kind == DrillKind::kXid || *kind == DrillKind::kEcc;
  const std::uint64_t most = *kind == DrillKind::kXid ? kHighestXid : kMostErrors;
  if (is_counted && (request.number == 0 || request.number > most))
    return fail(ErrorKind::kInvalid, "number: must be 1 to " + std::to_string(most));
  if (request.lasts < kShortestDrill || request.lasts > kLongestDrill)
    return fail(ErrorKind::kInvalid, "seconds: must be 60 to 3600");
  return request;
}

Result<Gpu> named_gpu(const std::vector<Gpu>& gpus, const std::string& name) {
  const auto index = parse_integer<int>(name);
  const auto pci = index ? std::nullopt : parse_pci_address(name);
  std::string known;
  for (const Gpu& gpu : gpus) {
    if (index ? gpu.index == *index : pci && gpu.pci.same_device(*pci)) return gpu;
    known +=
        (known.empty() ? "" : ", ") + std::to_string(gpu.index) + " (" + gpu.pci.bus_id() + ")";
  }
  return fail(ErrorKind::kNotFound,
              "there is no GPU " + to_valid_utf8(name, 64) +
                  (known.empty() ? "; no GPU is known on this node" : "; known GPUs: " + known));
}

Result<Finding> injected_finding(const DrillRequest& request, const Gpu& gpu,
                                 const Snapshot& snapshot, const Policy& policy, WallTime now) {
  if (gpu.vendor != Vendor::kNvidia || !gpu.has_address())
    return fail(ErrorKind::kInvalid, "drills need an NVIDIA GPU with a known PCI address");
  auto finding = request.kind == DrillKind::kXid
                     ? finding_of_line(request, gpu, snapshot, policy, now)
                     : finding_of_reading(request, gpu, snapshot, policy, now);
  if (!finding) return finding;
  finding->pci_bus_id = gpu.pci.bus_id();
  finding->first_seen = finding->last_seen = now;
  finding->count = 1;
  return finding;
}

std::filesystem::path drill_folder(const std::filesystem::path& state_folder) {
  return state_folder / "drill.d";
}

}  // namespace gpuward::exporter
