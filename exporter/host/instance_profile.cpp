#include "exporter/host/instance_profile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// A larger number is a typing error: no machine has as many.
constexpr unsigned kMostDevices = 1024;
constexpr std::size_t kMostBytesOfAName = 64;

// `instance-profiles.conf` of the replaced suite, awslabs/awsome-distributed-ai,
// 4.validation_and_observability/2.gpu-cluster-healthcheck, commit 95b939cd.
constexpr std::string_view kBuiltIn = R"(
p4d.24xlarge|8|4|true|efa
p4de.24xlarge|8|4|true|efa
p5.48xlarge|8|32|true|efa
p5e.48xlarge|8|32|true|efa
p5en.48xlarge|8|16|true|efa
p6-b200.48xlarge|8|8|true|efa
g6.48xlarge|8|1|false|efa
g6.xlarge|1|0|false|efa
)";

// NVLink is expected only of whole boards: the clouds do not document it for a part of a board.

// https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html; the launcher decides whether to
// attach an EFA device.
constexpr std::string_view kAws = R"(
g4dn.xlarge|1|0|false
g4dn.2xlarge|1|0|false
g4dn.4xlarge|1|0|false
g4dn.8xlarge|1|0|false
g4dn.12xlarge|4|0|false
g4dn.16xlarge|1|0|false
g4dn.metal|8|0|false
g5.xlarge|1|0|false
g5.2xlarge|1|0|false
g5.4xlarge|1|0|false
g5.8xlarge|1|0|false
g5.12xlarge|4|0|false
g5.16xlarge|1|0|false
g5.24xlarge|4|0|false
g5.48xlarge|8|0|false
g5g.xlarge|1|0|false
g5g.2xlarge|1|0|false
g5g.4xlarge|1|0|false
g5g.8xlarge|1|0|false
g5g.16xlarge|2|0|false
g5g.metal|2|0|false
g6.2xlarge|1|0|false
g6.4xlarge|1|0|false
g6.8xlarge|1|0|false
g6.12xlarge|4|0|false
g6.16xlarge|1|0|false
g6.24xlarge|4|0|false
g6e.xlarge|1|0|false
g6e.2xlarge|1|0|false
g6e.4xlarge|1|0|false
g6e.8xlarge|1|0|false
g6e.12xlarge|4|0|false
g6e.16xlarge|1|0|false
g6e.24xlarge|4|0|false
g6e.48xlarge|8|0|false
gr6.4xlarge|1|0|false
gr6.8xlarge|1|0|false
p3.2xlarge|1|0|false
p3.8xlarge|4|0|false
p3.16xlarge|8|0|true
p3dn.24xlarge|8|0|true
p5.4xlarge|1|0|false
p6-b300.48xlarge|8|0|true
p6e-gb200.36xlarge|4|0|true
)";

// https://docs.cloud.google.com/compute/docs/gpus
constexpr std::string_view kGoogleCloud = R"(
a2-highgpu-1g|1|0|false
a2-highgpu-2g|2|0|false
a2-highgpu-4g|4|0|false
a2-highgpu-8g|8|0|true
a2-megagpu-16g|16|0|true
a2-ultragpu-1g|1|0|false
a2-ultragpu-2g|2|0|false
a2-ultragpu-4g|4|0|false
a2-ultragpu-8g|8|0|true
a3-highgpu-1g|1|0|false
a3-highgpu-2g|2|0|false
a3-highgpu-4g|4|0|false
a3-highgpu-8g|8|0|true
a3-megagpu-8g|8|0|true
a3-ultragpu-8g|8|0|true
a4-highgpu-8g|8|0|true
a4x-highgpu-4g|4|0|true
g2-standard-4|1|0|false
g2-standard-8|1|0|false
g2-standard-12|1|0|false
g2-standard-16|1|0|false
g2-standard-24|2|0|false
g2-standard-32|1|0|false
g2-standard-48|4|0|false
g2-standard-96|8|0|false
)";

// https://learn.microsoft.com/azure/virtual-machines/sizes/overview#gpu-accelerated
constexpr std::string_view kAzure = R"(
Standard_NC24ads_A100_v4|1|0|false
Standard_NC48ads_A100_v4|2|0|false
Standard_NC96ads_A100_v4|4|0|false
Standard_NC40ads_H100_v5|1|0|false
Standard_NC80adis_H100_v5|2|0|false
Standard_ND96asr_v4|8|0|true
Standard_ND96amsr_A100_v4|8|0|true
Standard_ND96isr_H100_v5|8|0|true
Standard_ND96isr_H200_v5|8|0|true
Standard_ND128isr_NDR_GB200_v6|4|0|true
)";

// https://docs.oracle.com/iaas/Content/Compute/References/computeshapes.htm
constexpr std::string_view kOracleCloud = R"(
VM.GPU.A10.1|1|0|false
VM.GPU.A10.2|2|0|false
BM.GPU.A10.4|4|0|false
BM.GPU.L40S.4|4|0|false
BM.GPU4.8|8|0|true
BM.GPU.A100-v2.8|8|0|true
BM.GPU.H100.8|8|0|true
BM.GPU.H200.8|8|0|true
BM.GPU.B200.8|8|0|true
BM.GPU.GB200.4|4|0|true
)";

// Keyed by the product name of the firmware (DMI); only names that are known from a real machine.
// Each model is sold with eight GPUs and no other number.
//   DGXA100: a kernel's "Hardware name: NVIDIA DGXA100 920-23687-2530-000/DGXA100", in
//     "5.9-rc7 oops in nvkm_udevice_info() w/ GA100" on linux-kernel@vger.kernel.org,
//     2 October 2020; https://docs.nvidia.com/dgx/dgxa100-user-guide/introduction-to-dgxa100.html
//   PowerEdge XE9680: nvidia.com/gpu.machine and nvidia.com/gpu.count of a node in
//     https://github.com/NVIDIA/k8s-device-plugin/issues/1501
constexpr std::string_view kMachines = R"(
DGXA100|8|0|true
PowerEdge-XE9680|8|0|true
)";

// HyperPod prefixes instance types with "ml.".
std::string_view without_ml(std::string_view type) {
  constexpr std::string_view kPrefix = "ml.";
  if (type.starts_with(kPrefix)) type.remove_prefix(kPrefix.size());
  return type;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostBytesOfAName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::optional<unsigned> parse_count(std::string_view text) {
  const auto count = parse_integer<unsigned>(text);
  return count && *count <= kMostDevices ? count : std::nullopt;
}

std::optional<bool> parse_truth(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto bar = line.find('|');
    fields.push_back(trim(line.substr(0, bar)));
    if (bar == std::string_view::npos) return fields;
    line.remove_prefix(bar + 1);
  }
}

// "efa", or a layered one as fi_info prints it: "tcp;ofi_rxm".
bool is_provider(std::string_view text) {
  while (true) {
    const auto end = std::min(text.find(';'), text.size());
    if (!is_name(text.substr(0, end))) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

// An error contains only the message: parse() adds the position.
Result<InstanceProfile> parse_line(std::string_view line) {
  const auto wrong = [](std::string message) {
    return fail(ErrorKind::kInvalid, std::move(message));
  };
  const std::vector<std::string_view> fields = split(line);
  if (fields.size() != 4 && fields.size() != 5)
    return wrong(
        "expected TYPE|GPUS|EFA DEVICES|true or false|PROVIDER, for example "
        "p5.48xlarge|8|32|true|efa");
  const std::string_view type = without_ml(fields[0]);
  if (!is_name(type)) return wrong("the first field is not an instance type");
  const auto gpus = parse_count(fields[1]);
  if (!gpus) return wrong("the second field, the GPUs, is not a number from 0 to 1024");
  const auto efa_devices = parse_count(fields[2]);
  if (!efa_devices)
    return wrong("the third field, the EFA devices, is not a number from 0 to 1024");
  const auto expects_nvlink = parse_truth(fields[3]);
  if (!expects_nvlink) return wrong("the fourth field, NVLink, is neither true nor false");
  const std::string_view provider = fields.size() == 5 ? fields[4] : "efa";
  if (!is_provider(provider))
    return wrong("the fifth field is not the name of a libfabric provider");
  return InstanceProfile{std::string(type), *gpus, *efa_devices, *expects_nvlink,
                         std::string(provider)};
}

}  // namespace

InstanceProfiles InstanceProfiles::built_in() {
  InstanceProfiles all;
  for (const std::string_view table :
       {kBuiltIn, kAws, kGoogleCloud, kAzure, kOracleCloud, kMachines}) {
    all.add(parse(table, "the built-in table").value());
  }
  return all;
}

Result<InstanceProfiles> InstanceProfiles::parse(std::string_view text, const std::string& name) {
  InstanceProfiles profiles;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    auto profile = parse_line(line);
    if (!profile)
      return with_context(name + ":" + std::to_string(number), std::move(profile).error());
    if (!profiles.find(profile->type)) profiles.add(*std::move(profile));
  }
  return profiles;
}

void InstanceProfiles::add(InstanceProfile profile) {
  profile.type = std::string(without_ml(profile.type));
  const auto known = std::ranges::find(profiles_, profile.type, &InstanceProfile::type);
  if (known == profiles_.end()) {
    profiles_.push_back(std::move(profile));
  } else {
    *known = std::move(profile);
  }
}

void InstanceProfiles::add(const InstanceProfiles& more) {
  for (const InstanceProfile& profile : more.profiles_) add(profile);
}

std::optional<InstanceProfile> InstanceProfiles::find_machine(std::string_view product_name) const {
  std::string whole(product_name);
  std::ranges::replace(whole, ' ', '-');
  if (auto known = find(whole)) return known;
  return find(product_name.substr(0, product_name.find(' ')));
}

std::optional<InstanceProfile> InstanceProfiles::find(std::string_view type) const {
  const auto known = std::ranges::find(profiles_, without_ml(type), &InstanceProfile::type);
  if (known == profiles_.end()) return std::nullopt;
  return *known;
}

}  // namespace gpuward::exporter
