// The messages of AMD's GPU driver: which are events, and of what kind. Private to core/xid, used
// by the parser.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. Hardware errors (RAS), resets, hangs, and GPUs that did not start or
// are lost.
[[nodiscard]] std::optional<Event> parse_amdgpu(std::string_view message);

}  // namespace gpuward::xid
