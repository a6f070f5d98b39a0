// What a pretended AMD node is like: a text file of `key = value` lines, read by the fake
// libamd_smi (amd_smi.cpp, named by GPUWARD_FAKE_AMD_SMI, read again at each call) and by the sysfs
// tree of tests (amd_tree.h). Ready ones lie in tests/testdata/invented/amd.
//
// The syntax of its lines is that of scenario_lines.h; the keys:
//
//   gpus = 0000:05:00.0 0000:26:00.0         which there are; N below is the place in this list, or
//                                            `*` for those that have no line of their own
//   sys.PATH = TEXT                          a file under /sys; `\n` is a line end
//   gpu.N.PATH = TEXT                        a file in the GPU's folder under /sys
//   gpu.N.PATH = bytes SIZE OFFSET:BITS=NUMBER …   binary, little-endian; what is not named is 0xff
//   kfd = 0                                  no compute driver; kfd.N = 0: not this GPU
//   driver = 0                               no amdgpu; the GPUs are on the PCI bus all the same
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
//   smi.cper.at_once = 2                     how many a call gives at most
//   smi.cper.stuck = 1                       the cursor does not move
//   smi.cper.bytes, smi.cper.count = N       how much it claims to have given
//   smi.fault.FUNCTION = hang | crash | 34   a number is returned; hang ends when the line is gone
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
