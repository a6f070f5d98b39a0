// The answers of the fake libnvidia-ml.so.1: a text file of `key = value` lines, named by
// GPUWARD_FAKE_NVML and read again when it changes, so that a test changes a running library.
// Built as a real shared object, ${CMAKE_BINARY_DIR}/lib/fakes/libnvidia-ml.so.1 (target
// fake_nvml), and as lib/fakes/old_driver/libnvidia-ml.so.1 (fake_nvml_old_driver), which lacks
// the functions that drivers of 2019 lack. lib/fakes/stays_mapped/libnvidia-ml.so.1
// (fake_nvml_stays_mapped) stays in the process after dlclose. Ready scenarios are in
// tests/testdata/invented/nvml. Tests in C++ use fake_nvml.h.
//
// The syntax of its lines is that of scenario_lines.h.
//
// Values. A key without a line answers NVML_ERROR_NOT_SUPPORTED. `!15` answers that error code.
// Numbers are decimal (also negative) or 0x…; texts are used unchanged.
//
//   driver_version, nvml_version, count
//   device: a file that is held open between nvmlInit and nvmlShutdown, as the real library holds
//     the device nodes of the GPUs
//   generation: while it differs from its value when the process loaded this library,
//     each call answers 18, a version mismatch
//   gpu.N.KEY, or gpu.*.KEY for the GPUs without their own line:
//     name uuid serial vbios part_number pci minor architecture
//     ecc.mode ecc.pending ecc.default
//     ecc.{corrected,uncorrected}.{volatile,aggregate}.{total,sram,dram}
//     retired.{single_bit,double_bit,pending}
//     rows.{correctable,uncorrectable,pending,failure}  rows.banks.{max,high,partial,low,none}
//     sram.{parity,secded,threshold_exceeded}
//     temperature.{gpu,memory,margin,shutdown,slowdown,memory_max}   °C
//     temperature.{shutdown,slowdown,memory,gpu}_margin              °C
//     power.{usage,enforced_limit,limit,default_limit,energy}        mW, mJ
//     slowdown.{reasons,power,thermal}                               bits, ns, ns
//     pcie.{generation,generation_max,width,width_max,replays}
//     clock.{sm,memory}                                              MHz
//     utilization.{gpu,memory}                                       percent
//     memory.{total,reserved,free,used}                              bytes
//     persistence mig.mode mig.pending mig.max  mig.M.{uuid,gpu_instance,compute_instance}
//     fabric.{state,status,health_mask,health_summary}  fabric.version: newest one known, 1 to 3
//     nvlink.count  nvlink.L.{active,replay,recovery,crc_flit,crc_data,remote} or nvlink.*.…
//     nvlink.L.{recovery_events,symbol_errors,effective_errors,symbol_ber}   NVLink 5
//     processes: `pid:bytes pid:bytes`  process_entry_bytes: 16, 24 or 32 (R535 has 32)
//     field.F, or field.F.S with a scope: any other field of nvmlDeviceGetFieldValues
//   p2p.A.B.{read,write,nvlink}, p2p.*.read …; topology.A.B, topology.*
//
// Faults. FUNCTION is the C name, N a GPU's index; either may be `*` (not both).
//   fault.FUNCTION.N = hang | crash | delay 200 | 15     hang ends without the line;
//                                                        delay is in ms; returns a number
//   So `fault.*.3 = 15` is a lost GPU and `fault.nvmlInit_v2.* = 18` a version mismatch.
//
// Xids. One line `GPU CODE [GPU_INSTANCE COMPUTE_INSTANCE]` appended to the file xids (default: the
// scenario's path with `.xids` appended) is one event; lines from before nvmlDeviceRegisterEvents
// are not delivered, as with the real library.
//
// GPUWARD_FAKE_NVML_LOG names a file that gets a line `FUNCTION N` for each call, and
// `leak event sets K` where nvmlShutdown finds some.
#pragma once

#include <optional>
#include <string>

#include "tests/fakes/nvml/types.h"
#include "tests/fakes/scenario_lines.h"

namespace gpuward::fake_nvml {

// The value of a line: a number, a text, or the error that the call returns.
struct Value {
  int error = kFakeSuccess;
  std::string text;
  bool is_set = true;  // a line sets it
};

class Scenario : public fakes::ScenarioLines {
 public:
  [[nodiscard]] Value of_gpu(int gpu, const std::string& key) const;
  [[nodiscard]] Value of(const std::string& key) const;
};

[[nodiscard]] std::optional<long long> to_number(const std::string& text);

}  // namespace gpuward::fake_nvml
