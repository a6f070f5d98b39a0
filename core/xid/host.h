// The messages of the kernel about the machine around the GPUs: PCI Express errors (AER), memory
// controllers (EDAC), machine checks (MCE). Private to core/xid.
#pragma once

#include <optional>
#include <string_view>

#include "core/xid/event.h"

namespace gpuward::xid {

// `message` without prefixes: `<driver> <address>: AER: …` or `… PCIe Bus Error: severity=…`.
[[nodiscard]] std::optional<Event> parse_aer(std::string_view message);
[[nodiscard]] std::optional<Event> parse_edac(std::string_view message);
[[nodiscard]] std::optional<Event> parse_mce(std::string_view message);

}  // namespace gpuward::xid
