// Which vendor's GPUs a node has, and which vendor's tools a command runs: a command that resets
// one vendor's GPUs must not run on another's. Pure; used by the policy and by the step gpu-reset.
#pragma once

#include <optional>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/gpu.h"
#include "core/model/result.h"

namespace gpuward::remediator {

// Reads the resources of the device plugin; without any, the labels of the vendors' operators and
// feature discovery, and then the PCI vendor as node-feature-discovery labels it. kNotFound: the
// Node does not say; kInvalid: several vendors, or one whose GPUs gpuward cannot reset.
[[nodiscard]] Result<Vendor> gpu_vendor(const kube::Node& node);

// Returns the vendor whose tools are named in `text`, a command or a template of a Job; nullopt if
// it names none or both.
[[nodiscard]] std::optional<Vendor> vendor_of_tools(std::string_view text);

// "NVIDIA", "AMD": for messages.
[[nodiscard]] constexpr std::string_view name_of(Vendor vendor) {
  return vendor == Vendor::kNvidia ? "NVIDIA" : "AMD";
}

}  // namespace gpuward::remediator
