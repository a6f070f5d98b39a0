// The messages of NVIDIA's NVSwitch driver: SXids without their continuation lines. Private to
// core/xid, used by the parser.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. One event per hardware event: the driver prints its severity and data
// in further lines with the same number, which are not events.
[[nodiscard]] std::optional<Event> parse_nvswitch(std::string_view message);

}  // namespace gpuward::xid
