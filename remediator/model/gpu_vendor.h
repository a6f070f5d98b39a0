// Whose GPUs a node has, by what is read of it, and whose tools a command runs: what resets one
// vendor's GPUs does nothing good to another's. Pure; used by the policy and by the step gpu-reset.
#pragma once

#include <optional>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/gpu.h"
#include "core/model/result.h"

namespace gpuward::remediator {

// By the resources of its device plugin; where there are none, by the labels of the vendors'
// operators and feature discovery, and then by PCI vendor as node-feature-discovery labels it.
// kNotFound: nothing says it; kInvalid: several vendors, or one that gpuward cannot reset.
[[nodiscard]] Result<Vendor> gpu_vendor(const kube::Node& node);

// The vendor whose tools are named in `text`, a command or a template of a Job; nullopt for none
// and for both.
[[nodiscard]] std::optional<Vendor> vendor_of_tools(std::string_view text);

// "NVIDIA", "AMD": for messages.
[[nodiscard]] constexpr std::string_view name_of(Vendor vendor) {
  return vendor == Vendor::kNvidia ? "NVIDIA" : "AMD";
}

}  // namespace gpuward::remediator
