// The kubelet's answer to v1.PodResourcesLister/List: which containers have which devices. Pure and
// bounded: any bytes may come in. Used by the kubelet client and by the fuzzer.
//
// Field numbers: k8s.io/kubelet/pkg/apis/podresources/v1/api.proto. The list has every pod that has
// been admitted; a kubelet before 1.34 keeps those that have ended until they are deleted.
#pragma once

#include <string_view>

#include "core/model/result.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

// Only GPUs, of device plugins and of DRA drivers, by device id (device_id.h); each list is sorted
// and has nobody twice. kInvalid for what is no such message, kTooLarge for more devices than any
// node has.
[[nodiscard]] Result<Workloads> parse_pod_resources(std::string_view message);

}  // namespace gpuward::exporter
