// A fault seen on a node, and how severe it is. A finding latches: it stays until the event that
// clears it. Checks and the kernel log make findings; the exporter publishes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward {

// The event that clears a finding. `kAge`: a time without a repeat (the row in the catalogue says
// how long). `kCheck`: the check that found it has run again and no longer finds it.
enum class ClearedBy : std::uint8_t { kReboot, kGpuReset, kDiagnostics, kOperator, kAge, kCheck };

// "reboot", "gpu_reset", "diagnostics", "operator", "age", "check".
[[nodiscard]] constexpr std::string_view to_string(ClearedBy cleared_by) {
  constexpr std::string_view kNames[] = {"reboot",   "gpu_reset", "diagnostics",
                                         "operator", "age",       "check"};
  return kNames[static_cast<std::size_t>(cleared_by)];
}

// The source of a finding. kUserSpace: a line that a program may have written, or that is not
// about a device of this node. kKernel: a message of the kernel or of a driver. kMeasured: a check
// asked the driver, sysfs or a test program. A line alone may taint and cordon, but never drain,
// reset, reboot or terminate: see Finding::confirmed_severity().
enum class Evidence : std::uint8_t { kKernel, kUserSpace, kMeasured };

// "kernel", "user_space", "measured".
[[nodiscard]] constexpr std::string_view to_string(Evidence evidence) {
  constexpr std::string_view kNames[] = {"kernel", "user_space", "measured"};
  return kNames[static_cast<std::size_t>(evidence)];
}

using WallTime = std::chrono::system_clock::time_point;

struct Finding {
  std::string check;       // "xid", "sxid", "amd_ras", ...
  std::string code;        // "79", "149", "20034"; empty if the check has none
  std::string pci_bus_id;  // `0000:4e:00`; empty for the node as a whole
  Severity severity = Severity::kNone;
  ClearedBy cleared_by = ClearedBy::kReboot;
  Evidence evidence = Evidence::kKernel;
  std::string line;  // as seen, valid UTF-8, at most 1 KiB
  std::string why;   // why it is this severe
  WallTime first_seen;
  WallTime last_seen;
  std::uint64_t count = 0;  // times seen
  // The boot in which it was first seen, filled in by the store. Shows that a reboot did not help.
  std::string first_boot_id;
  // The boot in which it was last seen, filled in by the store. Empty if an older release wrote it.
  std::string last_boot_id = {};
  // The users of the GPU when it was last seen: `namespace/pod`, several with commas; empty if
  // there were none or they are not known.
  std::string workload;
  // Identifies the single event behind the finding if the driver keeps reporting that event; else
  // empty. Once cleared, the finding returns only with another event.
  std::string event;
  // Only the driver's library has reported it so far, no line of the kernel log: it cannot
  // confirm other reports of the library about the GPU.
  bool is_by_library_alone = false;
  // Rated as monitor only because the node booted, or the driver was loaded, a short time ago
  // (`gpu.settling_time`): neither a healthy nor a broken GPU is proven yet.
  bool is_too_soon = false;
  // The severity of a line that was old when it was first read, or that is of an earlier boot; the
  // finding has severity none then. It is listed, but justifies nothing until a reading confirms
  // it.
  Severity history = Severity::kNone;
  // All its lines are of an earlier boot. It does not count as a second source for a fault of this
  // boot, and no reading confirms it: the hardware may have been replaced since.
  bool is_of_earlier_boot = false;
  // The second source besides its line in the kernel log (exporter/checks/rules/witness.h): "driver
  // event", "gpu ecc_uncorrected"; empty if there is none yet.
  std::string witness = {};
  // The severity that `witness` confirms; a worse line that comes later needs its own.
  Severity witnessed = Severity::kNone;

  // The second source for operators: "driver event"; "driver event, for reset" if the finding is
  // worse.
  [[nodiscard]] std::string witness_text() const {
    if (witness.empty() || witnessed >= severity) return witness;
    return witness + ", for " + std::string(to_string(witnessed));
  }
  // The severity that does not rest on lines of the kernel log alone.
  [[nodiscard]] Severity confirmed_severity() const {
    switch (evidence) {
      case Evidence::kMeasured:
        return severity;
      case Evidence::kKernel:
        return witnessed;
      case Evidence::kUserSpace:
        break;
    }
    return Severity::kNone;
  }
};

}  // namespace gpuward
