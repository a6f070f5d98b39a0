// Amazon EC2: scheduled events, spot interruptions and rebalance recommendations.
// The sources of each answer's form stand beside its parser. Named in announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud aws_cloud();

}  // namespace gpuward::exporter
