// Decodes the sub-code of Xid 144-150 by the rules in data/nvlink5.inc. Private to core/xid, used
// by the catalogue.
#pragma once

#include <cstdint>

#include "core/xid/event.h"
#include "core/xid/tables.h"

namespace gpuward::xid {

[[nodiscard]] constexpr bool is_nvlink5(std::uint32_t code) { return code >= 144 && code <= 150; }

// Returns the rule that fits best, the most severe of several; nullptr if none fits. The first
// words of drivers before 575 and from 575 on differ. Rules for `driver_branch` are tried first,
// then the others: this is safe, because the unit in the text must fit too, and no word of a unit
// fits both.
[[nodiscard]] const Nvlink5Rule* find_nvlink5_rule(const Event& event, std::uint32_t driver_branch);

}  // namespace gpuward::xid
