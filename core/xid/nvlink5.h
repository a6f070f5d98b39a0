// Decodes the sub-code of Xid 144-150 by the rules in data/nvlink5.inc. Private to core/xid, used
// by the catalogue.
#pragma once

#include <cstdint>

#include "core/xid/event.h"
#include "core/xid/tables.h"

namespace gpuward::xid {

[[nodiscard]] constexpr bool is_nvlink5(std::uint32_t code) { return code >= 144 && code <= 150; }

// The rule that fits best, the most severe of several; nullptr where none does. The words of
// drivers before and from 575 differ; those of `driver_branch` are tried first, then the others,
// because the unit in the text has to fit as well and no word of a unit fits both.
[[nodiscard]] const Nvlink5Rule* find_nvlink5_rule(const Event& event, std::uint32_t driver_branch);

}  // namespace gpuward::xid
