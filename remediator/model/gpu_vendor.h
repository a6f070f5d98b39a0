// Which vendor's GPUs a node has, and which vendor's tools a command runs. A command that resets
// one vendor's GPUs must not run on another vendor's GPUs. Pure; used by the policy and by the step
// gpu-reset.
#pragma once

#include <optional>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/gpu.h"
#include "core/model/result.h"

namespace gpuward::remediator {

// Returns the vendor of the node's GPUs. Reads first the resources of the device plugin, then the
// labels of the vendors' operators and feature discovery, then the PCI vendor label of
// node-feature-discovery. kNotFound: the Node does not name a vendor. kInvalid: it names several
// vendors, or one with GPUs that gpuward cannot reset.
[[nodiscard]] Result<Vendor> gpu_vendor(const kube::Node& node);

// Returns the vendor of the tools in `text`, a command or a template of a Job; nullopt if it names
// no tools or tools of both vendors.
[[nodiscard]] std::optional<Vendor> vendor_of_tools(std::string_view text);

// Returns "NVIDIA" or "AMD", for messages.
[[nodiscard]] constexpr std::string_view name_of(Vendor vendor) {
  return vendor == Vendor::kNvidia ? "NVIDIA" : "AMD";
}

}  // namespace gpuward::remediator
