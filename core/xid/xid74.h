// Reads the seven registers of Xid 74 by data/xid74.inc. Private to core/xid, used by the
// catalogue.
#pragma once

#include <span>
#include <string_view>

#include "core/model/severity.h"

namespace gpuward::xid {

struct Xid74Reading {
  bool decided = false;  // false: no bit is set, or one that the table does not list
  Severity severity = Severity::kMonitor;
  std::string_view action;
  std::string_view why;
};

// Returns the worst reading of the set bits. `undecided` is the severity for bits whose row says
// `default`.
[[nodiscard]] Xid74Reading read_xid74(std::span<const std::uint32_t> registers, Severity undecided);

}  // namespace gpuward::xid
