// Finds the events in the messages of AMD's GPU driver, and their kinds. Private to core/xid, used
// by the parser.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. Finds hardware errors (RAS), resets, hangs, and GPUs that did not
// start or are lost.
[[nodiscard]] std::optional<Event> parse_amdgpu(std::string_view message);

}  // namespace gpuward::xid
