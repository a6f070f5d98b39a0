// Parses the kubelet's response to v1.PodResourcesLister/List: which containers have which devices.
// Pure and bounded, for any input bytes. Used by the kubelet client and by the fuzzer.
//
// Field numbers: k8s.io/kubelet/pkg/apis/podresources/v1/api.proto. The list has every admitted
// pod; a kubelet before 1.34 keeps ended pods until they are deleted.
#pragma once

#include <string_view>

#include "core/model/result.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

// Returns only GPUs, of device plugins and of DRA drivers, by device id (device_id.h); each list is
// sorted and without duplicates. kInvalid for any other message, kTooLarge for more devices than
// any node has.
[[nodiscard]] Result<Workloads> parse_pod_resources(std::string_view message);

}  // namespace gpuward::exporter
