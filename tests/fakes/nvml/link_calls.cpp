// The calls of the fake libnvidia-ml.so.1 about PCIe, NVLink, the fabric and the connections
// between GPUs.
#include <array>

#include "tests/fakes/nvml/machine.h"

namespace gpuward::fake_nvml {
namespace {

template <typename T>
int answer_link(const char* function, const FakeDevice* device, unsigned link,
                const std::string& key, T* out) {
  if (const int error = enter(function, device)) return error;
  long long count = 0, number = 0;
  if (const int error = number_of(device, "nvlink.count", &count)) return error;
  if (link >= static_cast<unsigned>(count)) return kFakeInvalidArgument;
  const int error = number_in(value_of_link(device, link, key), &number);
  if (error == kFakeSuccess) *out = static_cast<T>(number);
  return error;
}

// `p2p.A.B.KEY`, then `p2p.*.KEY`; likewise for `topology`.
int answer_pair(const char* function, const FakeDevice* from, const FakeDevice* to,
                const std::array<std::string, 2>& keys, int* out) {
  if (to == nullptr) return kFakeInvalidArgument;
  if (const int error = enter(function, from)) return error;
  Value value = value_of(keys[0]);
  if (!value.is_set) value = value_of(keys[1]);
  if (value.error != kFakeSuccess) return value.error;
  *out = static_cast<int>(to_number(value.text).value_or(0));
  return kFakeSuccess;
}

std::string pair_of(const FakeDevice* from, const FakeDevice* to) {
  if (from == nullptr || to == nullptr) return {};
  return std::to_string(from->gpu) + "." + std::to_string(to->gpu);
}

template <typename T>
int fill_fabric(const FakeDevice* device, T* out) {
  if (const int error = read_number(device, "fabric.state", &out->state)) return error;
  out->status = 0;
  fill(device, "fabric.status", &out->status);
  return kFakeSuccess;
}

long long fabric_version(const FakeDevice* device) {
  long long version = 3;
  fill(device, "fabric.version", &version);
  return version;
}

}  // namespace

FAKE_NVML_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, "pcie.generation")
FAKE_NVML_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, "pcie.generation_max")
FAKE_NVML_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, "pcie.width")
FAKE_NVML_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, "pcie.width_max")
FAKE_NVML_NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned, "pcie.replays")

FAKE_NVML_API int nvmlDeviceGetNvLinkState(FakeDevice* device, unsigned link, int* active) {
  return answer_link("nvmlDeviceGetNvLinkState", device, link, "active", active);
}

FAKE_NVML_API int nvmlDeviceGetNvLinkErrorCounter(FakeDevice* device, unsigned link, int counter,
                                                  unsigned long long* out) {
  constexpr std::array kKeys{"replay", "recovery", "crc_flit", "crc_data", "ecc"};
  if (counter < 0 || counter > 4) return kFakeInvalidArgument;
  return answer_link("nvmlDeviceGetNvLinkErrorCounter", device, link,
                     kKeys.at(static_cast<std::size_t>(counter)), out);
}

FAKE_NVML_API int nvmlDeviceGetGpuFabricInfo(FakeDevice* device, FakeFabricV1* out) {
  if (const int error = enter("nvmlDeviceGetGpuFabricInfo", device)) return error;
  return fill_fabric(device, out);
}

FAKE_NVML_API int nvmlDeviceGetGpuFabricInfoV(FakeDevice* device, FakeFabricV3* out) {
  if (const int error = enter("nvmlDeviceGetGpuFabricInfoV", device)) return error;
  const bool is_v2 = out->version == version_of<FakeFabricV2>(2);
  const bool is_v3 = out->version == version_of<FakeFabricV3>(3);
  const long long known = fabric_version(device);
  const bool is_known = (is_v2 && known >= 2) || (is_v3 && known >= 3);
  if (!is_known) return kFakeVersionMismatch;
  if (const int error = fill_fabric(device, out)) return error;
  fill(device, "fabric.health_mask", &out->health_mask);
  if (is_v3) fill(device, "fabric.health_summary", &out->health_summary);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetP2PStatus(FakeDevice* from, FakeDevice* to, int what, int* out) {
  constexpr std::array kKeys{".read", ".write", ".nvlink"};
  if (what < 0 || what > 2) return kFakeInvalidArgument;
  const std::string key = kKeys.at(static_cast<std::size_t>(what));
  return answer_pair("nvmlDeviceGetP2PStatus", from, to,
                     {"p2p." + pair_of(from, to) + key, "p2p.*" + key}, out);
}

FAKE_NVML_API int nvmlDeviceGetTopologyCommonAncestor(FakeDevice* from, FakeDevice* to, int* out) {
  return answer_pair("nvmlDeviceGetTopologyCommonAncestor", from, to,
                     {"topology." + pair_of(from, to), "topology.*"}, out);
}

}  // namespace gpuward::fake_nvml
