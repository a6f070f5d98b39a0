// gpuward's form of the kubelet's device names. Device plugins and DRA drivers have different names
// for the same GPU. Pure; used by the reader of the kubelet's response and by users.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::exporter {

// Returns the id for a device-plugin resource (`nvidia.com/gpu`, `nvidia.com/mig-1g.10gb`,
// `amd.com/gpu`); nullopt for a resource that is not a GPU. Replicas of a shared GPU (`GPU-…::3`,
// `nvidia0/vgpu1`) and the instances of GKE's plugin (`nvidia0/gi2`) become the GPU; PCI addresses
// become bus ids.
[[nodiscard]] std::optional<std::string> device_id_of_resource(std::string_view resource,
                                                               std::string_view id);

// The same for a device that a DRA driver has allocated: NVIDIA's names are `gpu-<minor>` and
// `gpu-<minor>-mig-…`. AMD's names contain no address: they are kept as `gpu.amd.com/<name>`, which
// counts as used, but matches no known GPU.
[[nodiscard]] std::optional<std::string> device_id_of_claim(std::string_view driver,
                                                            std::string_view device);

// `nvidia3`, as in /dev.
[[nodiscard]] std::string device_id_of_minor(std::uint32_t minor);

}  // namespace gpuward::exporter
