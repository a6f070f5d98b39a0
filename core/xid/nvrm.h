// The messages of NVIDIA's GPU driver, which begin with `NVRM: `. Private to core/xid, used by the
// parser.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes. Finds Xids, a GPU that has fallen off the bus, a GPU that did not
// start, and messages about a dead GPU without an Xid.
[[nodiscard]] std::optional<Event> parse_nvrm(std::string_view message);

}  // namespace gpuward::xid
