// The exporter's first page: this node's GPUs as cells, the findings, and the last result of each
// check. Pure.
#pragma once

#include <string>

#include "core/html/markup.h"
#include "core/runtime/clock.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

[[nodiscard]] html::Markup node_page(const Snapshot& snapshot, const std::string& node,
                                     Clock::Wall now);

}  // namespace gpuward::exporter
