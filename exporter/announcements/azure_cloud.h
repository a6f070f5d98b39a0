// Microsoft Azure: Scheduled Events. They are read and never acknowledged: that would start them.
// The sources of each answer's form stand beside its parser. Named in announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud azure_cloud();

}  // namespace gpuward::exporter
