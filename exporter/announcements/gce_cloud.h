// Google Compute Engine: maintenance events, the upcoming maintenance of accelerator machines, and
// the preemption of Spot VMs. Comments at each parser name the source of its format. Named in
// announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud gce_cloud();

}  // namespace gpuward::exporter
