// The content of one kernel-log record about a GPU or an NVSwitch. The parser makes it, the
// catalogue judges it, the exporter counts and latches it. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/pci_address.h"

namespace gpuward::xid {

enum class Kind : std::uint8_t {
  kXid,       // `NVRM: Xid (...)`, and every shape of "fallen off the bus" as code 79
  kSxid,      // `nvidia-nvswitchN: SXid (...)`
  kRmInit,    // RmInitAdapter failed
  kNvrm,      // a dead GPU without an Xid: reset required, lost, unified memory needs a reboot
  kPeermem,   // nvidia-peermem: invalid context
  kAmdRas,    // amdgpu: RAS, ACA, hardware errors, bad pages over their threshold
  kAmdReset,  // amdgpu: reset of the GPU or a ring: begin, method, succeeded, failed, VRAM lost
  kAmdHang,   // amdgpu: ring timeout, fence wait loop, scheduler (MES) without an answer
  kAmdLost,   // amdgpu: the GPU did not start or resume, or is lost from the bus
  kAer,       // PCIe Advanced Error Reporting
  kEdac,      // memory controller
  kMce,       // machine check
  kRule,      // a line that a rule of the operator matches (kernel_log.rules)
};

// "xid", "sxid", "rm_init", "nvrm", "peermem", "amd_ras", "amd_reset", "amd_hang", "amd_lost",
// "aer", "edac", "mce", "kernel_rule".
[[nodiscard]] std::string_view to_string(Kind kind);

// Whether a check has the name of one of these kinds, except kernel_rule.
[[nodiscard]] bool is_of_hardware(std::string_view check);

enum class Fatality : std::uint8_t { kUnknown, kCorrectable, kNonFatal, kFatal };

struct Event {
  Kind kind = Kind::kXid;
  // Xid and SXid numbers. For the other kinds 0, and `label` says which ("UE", "begin", "fatal";
  // the code of a rule).
  std::uint32_t code = 0;
  // Also "fallen_off" on an Xid 79 without an Xid record: the driver often writes both for one
  // fault.
  std::string label;
  std::optional<PciAddress> pci;  // absent if the line names none, or if it was redacted
  std::optional<std::int64_t> pid;
  std::optional<std::string> process;         // the kernel's comm of the process: untrusted text
  std::optional<std::uint32_t> gpu_instance;  // MIG `GPU-I:05`
  std::optional<std::uint32_t> compute_instance;  // MIG `GPU-CI:00`
  std::optional<std::int32_t> link;  // NVLink or switch port; -1 if the driver prints -1
  Fatality fatality = Fatality::kUnknown;
  std::string unit;  // NVLink5 unit (`RLW_RXPIPE`); SXid text after the number
  std::vector<std::uint32_t>
      registers;  // NVLink5: intrinfo, error status, ...; Xid 74: seven words
  std::optional<std::uint32_t> recovery_to;    // Xid 154: the value changed to (0 None .. 5)
  bool asks_for_reset = false;                 // Xid 94: `RST: Yes` or `D-RST: Yes` at its end
  std::optional<std::uint32_t> caused_by_xid;  // Xid 45: `caused by previous Xid N`
  std::string switch_name;                     // SXid: "nvidia-nvswitch3"
  std::uint64_t count = 1;                     // errors that the line counts (EDAC, AMD RAS)
};

// An event of a kind that has words instead of numbers.
[[nodiscard]] Event labelled(Kind kind, std::string_view label);

}  // namespace gpuward::xid
