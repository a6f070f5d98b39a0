// The messages of AMD's GPU driver. Private to core/xid.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. Hardware errors (RAS), resets and hangs.
[[nodiscard]] std::optional<Event> parse_amdgpu(std::string_view message);

}  // namespace gpuward::xid
