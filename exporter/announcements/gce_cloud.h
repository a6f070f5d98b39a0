// Google Compute Engine: maintenance events, the upcoming maintenance of accelerator machines, and
// the preemption of Spot VMs.
// The sources of each answer's form stand beside its parser. Named in announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud gce_cloud();

}  // namespace gpuward::exporter
