// What was seen on a node, and what follows from it. A finding latches: it stays until what clears
// it has happened. Made by checks and the kernel log, published by the exporter.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward {

// What makes a finding go away. `kAge` = a time without a repeat (its row says how long); `kCheck`
// = the check that found it has run again and does not find it any more.
enum class ClearedBy : std::uint8_t { kReboot, kGpuReset, kDiagnostics, kOperator, kAge, kCheck };

// "reboot", "gpu_reset", "diagnostics", "operator", "age", "check".
[[nodiscard]] constexpr std::string_view to_string(ClearedBy cleared_by) {
  constexpr std::string_view kNames[] = {"reboot",   "gpu_reset", "diagnostics",
                                         "operator", "age",       "check"};
  return kNames[static_cast<std::size_t>(cleared_by)];
}

// Who can have said so. kUserSpace: a line that a program may have written, or that is not about a
// device of this node. kKernel: a message of the kernel or of a driver. kMeasured: a check
// has asked the driver, sysfs or a test program. A line alone may taint and cordon, and never
// drain, reset, reboot or terminate: see Finding::confirmed_severity().
enum class Evidence : std::uint8_t { kKernel, kUserSpace, kMeasured };

// "kernel", "user_space", "measured".
[[nodiscard]] constexpr std::string_view to_string(Evidence evidence) {
  constexpr std::string_view kNames[] = {"kernel", "user_space", "measured"};
  return kNames[static_cast<std::size_t>(evidence)];
}

using WallTime = std::chrono::system_clock::time_point;

struct Finding {
  std::string check;       // "xid", "sxid", "amd_ras", ...
  std::string code;        // "79", "149", "20034"; empty where the check has none
  std::string pci_bus_id;  // `0000:4e:00`; empty for the node as a whole
  Severity severity = Severity::kNone;
  ClearedBy cleared_by = ClearedBy::kReboot;
  Evidence evidence = Evidence::kKernel;
  std::string line;  // what was seen, valid UTF-8, at most 1 KiB
  std::string why;   // why it is this severe
  WallTime first_seen;
  WallTime last_seen;
  std::uint64_t count = 0;  // times seen
  // The boot in which it was first seen; the store fills it in. Shows that a reboot did
  // not help.
  std::string first_boot_id;
  // The boot in which it was last seen; filled in likewise. Empty: by an older release.
  std::string last_boot_id = {};
  // Who used the GPU when it was last seen: `namespace/pod`, several with commas; empty if nobody
  // or not known.
  std::string workload;
  // What tells apart the one event that it speaks of, where the driver goes on telling of that;
  // else empty. Cleared, it comes back with another event only.
  std::string event;
  // Only the driver's library has reported it so far, no line of the kernel log: no second source
  // beside what the library says of the GPU.
  bool is_by_library_alone = false;
  // Rated as monitor only because the node has booted, or the driver was loaded, a short time ago
  // (`gpu.settling_time`): neither healthy nor broken is proven.
  bool is_too_soon = false;
  // The severity that a line asks for which was old when it was first read, or of an earlier boot;
  // the finding has none then. It is listed, and justifies nothing until a reading confirms it.
  Severity history = Severity::kNone;
  // All its lines are of an earlier boot. It does not count as a second source for a fault of this
  // boot, and no reading confirms it: the hardware may have been replaced since.
  bool is_of_earlier_boot = false;
  // The second witness beside its line in the kernel log (exporter/checks/rules/witness.h): "driver
  // event", "gpu ecc_uncorrected"; empty: none yet.
  std::string witness = {};
  // The severity that it confirms; a worse line that came later needs a witness of its own.
  Severity witnessed = Severity::kNone;

  // The witness for people: "driver event"; "driver event, for reset" if the finding is worse.
  [[nodiscard]] std::string witness_text() const {
    if (witness.empty() || witnessed >= severity) return witness;
    return witness + ", for " + std::string(to_string(witnessed));
  }
  // How severe it is by more than lines of the kernel log.
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
