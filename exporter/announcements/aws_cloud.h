// Amazon EC2: scheduled events, spot interruptions and rebalance recommendations. Comments at each
// parser name the source of its format. Named in announcements/all.cpp.
#pragma once

#include "exporter/announcements/cloud.h"

namespace gpuward::exporter {

[[nodiscard]] Cloud aws_cloud();

}  // namespace gpuward::exporter
