// The messages of NVIDIA's NVSwitch driver: SXids, their continuations left out. Private to
// core/xid, used by the parser.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. One event per hardware event: the lines with its severity and data,
// which the driver prints under the same number, are none.
[[nodiscard]] std::optional<Event> parse_nvswitch(std::string_view message);

}  // namespace gpuward::xid
