// A simulated AMD node: a text file of `key = value` lines. The fake libamd_smi (amd_smi.cpp) reads
// the file that GPUWARD_FAKE_AMD_SMI names, again at each call; the tests' sysfs tree (amd_tree.h)
// reads it too. Ready ones are in tests/testdata/invented/amd.
//
// The syntax of its lines is that of scenario_lines.h; the keys:
//
//   gpus = 0000:05:00.0 0000:26:00.0         the GPUs; N below is the index in this list, or
//                                            `*` for the GPUs without their own line
//   sys.PATH = TEXT                          a file under /sys; `\n` is a line end
//   gpu.N.PATH = TEXT                        a file in the GPU's folder under /sys
//   gpu.N.PATH = bytes SIZE OFFSET:BITS=NUMBER …   binary, little-endian; other bytes are 0xff
//   kfd = 0                                  no compute driver; kfd.N = 0: not this GPU
//   driver = 0                               no amdgpu, but the GPUs are on the PCI bus
//
//   smi.version = 26 0 2                     first words of amdsmi_version_t
//   smi.N.uuid = TEXT                        amdsmi_get_gpu_device_uuid
//   smi.N.ecc.BLOCK = CE UE DE               amdsmi_get_gpu_ecc_count, BLOCK as in sysfs
//   smi.N.cper = RECORD; RECORD …            amdsmi_get_gpu_cper_entries, the oldest first; RECORD
//   is
//                                            SEVERITY TIME ID [LENGTH]: fatal, uncorrected,
//                                            corrected or anything else; 2026-11-20T10:00:00 or
//                                            `-`; 0:1F; the length that it claims
//   smi.cper.afids = 24 30                   amdsmi_get_afids_from_cper, of any record
//   smi.cper.at_once = 2                     the most that a call returns
//   smi.cper.stuck = 1                       the cursor does not move
//   smi.cper.bytes, smi.cper.count = N       the amount that it claims to have returned
//   smi.fault.FUNCTION = hang | crash | 34   returns a number; hang ends when the line is removed
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fakes/scenario_lines.h"

namespace gpuward::fake_amd {

class AmdScenario : public fakes::ScenarioLines {
 public:
  [[nodiscard]] std::vector<std::string> gpus() const;  // their PCI addresses
  // The files in the GPU's folder: its own and those of `*`.
  [[nodiscard]] std::map<std::string, std::string> files(std::size_t gpu) const;
};

}  // namespace gpuward::fake_amd
