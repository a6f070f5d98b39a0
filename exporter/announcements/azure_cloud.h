// Microsoft Azure: Scheduled Events. gpuward reads them and never acknowledges them, which would
// start them. Comments at each parser name the source of its format. Named in
// announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud azure_cloud();

}  // namespace gpuward::exporter
