// The fake libamd_smi: a real shared object with the functions that gpuward calls. It answers from
// the scenario named by GPUWARD_FAKE_AMD_SMI (amd_scenario.h). It declares its own numbers and
// structures, not those of exporter/gpu/amd, so that both are wrong only if both were copied wrong.
#include <poll.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "tests/fakes/amd_smi/amd_calls.h"
#include "tests/fakes/amd_smi/amd_smi_types.h"

namespace gpuward::fake_amd {
namespace {

std::string fault_of(const char* function) {
  const AmdScenario now = scenario();
  const std::string* const fault = now.find(std::string("smi.fault.") + function);
  return fault == nullptr ? "" : *fault;
}

}  // namespace

AmdScenario scenario() {
  AmdScenario read;
  if (const char* const path = std::getenv("GPUWARD_FAKE_AMD_SMI")) read.load(path);
  return read;
}

unsigned enter(const char* function) {
  std::string fault = fault_of(function);
  while (fault == "hang") {
    ::poll(nullptr, 0, 20);
    fault = fault_of(function);
  }
  if (fault == "crash") std::abort();
  return fault.empty() ? kOk : static_cast<unsigned>(std::atoi(fault.c_str()));
}

void* handle_of(std::size_t gpu) { return reinterpret_cast<void*>(gpu + 1); }
std::size_t gpu_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) - 1; }

FAKE_AMD_API unsigned amdsmi_get_lib_version(FakeVersion* version) {
  if (const unsigned error = enter("amdsmi_get_lib_version")) return error;
  const AmdScenario now = scenario();
  const std::string* const text = now.find("smi.version");
  std::istringstream words(text == nullptr ? "26 0 2" : *text);
  *version = {};
  words >> version->first >> version->second >> version->third >> version->fourth;
  version->build = "fake";
  return kOk;
}

FAKE_AMD_API unsigned amdsmi_init(std::uint64_t flags) {
  if (const unsigned error = enter("amdsmi_init")) return error;
  return flags == 2 ? kOk : kInvalid;
}

FAKE_AMD_API unsigned amdsmi_shut_down() { return enter("amdsmi_shut_down"); }

FAKE_AMD_API unsigned amdsmi_status_code_to_string(unsigned status, const char** text) {
  *text = status == 34 ? "AMDSMI_STATUS_DRIVER_NOT_LOADED - Driver not loaded" : "some status";
  return kOk;
}

// A socket for each GPU, as on MI300X.
FAKE_AMD_API unsigned amdsmi_get_socket_handles(unsigned* count, void** sockets) {
  if (const unsigned error = enter("amdsmi_get_socket_handles")) return error;
  const std::size_t gpus = scenario().gpus().size();
  for (std::size_t i = 0; sockets != nullptr && i < gpus && i < *count; ++i) {
    sockets[i] = handle_of(i);
  }
  *count = static_cast<unsigned>(gpus);
  return kOk;
}

FAKE_AMD_API unsigned amdsmi_get_processor_handles(void* socket, unsigned* count,
                                                   void** processors) {
  if (const unsigned error = enter("amdsmi_get_processor_handles")) return error;
  if (processors != nullptr && *count > 0) processors[0] = socket;
  *count = 1;
  return kOk;
}

FAKE_AMD_API unsigned amdsmi_get_gpu_device_bdf(void* processor, std::uint64_t* bdf) {
  if (const unsigned error = enter("amdsmi_get_gpu_device_bdf")) return error;
  const auto gpus = scenario().gpus();
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (gpu_of(processor) >= gpus.size() ||
      std::sscanf(gpus[gpu_of(processor)].c_str(), "%x:%x:%x.%x", &domain, &bus, &device,
                  &function) != 4) {
    return kNotFound;
  }
  *bdf = static_cast<std::uint64_t>(domain) << 16U | bus << 8U | device << 3U | function;
  return kOk;
}

FAKE_AMD_API unsigned amdsmi_get_gpu_device_uuid(void* processor, unsigned* length, char* uuid) {
  if (const unsigned error = enter("amdsmi_get_gpu_device_uuid")) return error;
  const AmdScenario now = scenario();
  const std::string* const text = now.of_gpu("smi", gpu_of(processor), "uuid");
  if (text == nullptr) return kUnsupported;
  if (*length < text->size() + 1) return kInvalid;
  std::memcpy(uuid, text->c_str(), text->size() + 1);
  return kOk;
}

FAKE_AMD_API unsigned amdsmi_get_gpu_ecc_count(void* processor, std::uint64_t block,
                                               FakeErrorCount* count) {
  if (const unsigned error = enter("amdsmi_get_gpu_ecc_count")) return error;
  constexpr std::array kNames{"umc",       "sdma", "gfx",  "mmhub", "athub", "pcie_bif", "hdp",
                              "xgmi_wafl", "df",   "smn",  "sem",   "mp0",   "mp1",      "fuse",
                              "mca",       "vcn",  "jpeg", "ih",    "mpio"};
  std::size_t place = 0;
  while (place < kNames.size() && std::uint64_t{1} << place != block) ++place;
  if (place == kNames.size()) return kInvalid;
  const AmdScenario now = scenario();
  const std::string* const text =
      now.of_gpu("smi", gpu_of(processor), std::string("ecc.") + kNames[place]);
  if (text == nullptr) return kUnsupported;
  std::istringstream words(*text);
  *count = {};
  words >> count->corrected >> count->uncorrected >> count->deferred;
  return kOk;
}

}  // namespace gpuward::fake_amd
