#include "core/xid/event.h"

namespace gpuward::xid {

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kXid:
      return "xid";
    case Kind::kSxid:
      return "sxid";
    case Kind::kRmInit:
      return "rm_init";
    case Kind::kNvrm:
      return "nvrm";
    case Kind::kPeermem:
      return "peermem";
    case Kind::kAmdRas:
      return "amd_ras";
    case Kind::kAmdReset:
      return "amd_reset";
    case Kind::kAmdHang:
      return "amd_hang";
    case Kind::kAmdLost:
      return "amd_lost";
    case Kind::kAer:
      return "aer";
    case Kind::kEdac:
      return "edac";
    case Kind::kMce:
      return "mce";
    case Kind::kRule:
      return "kernel_rule";
  }
  return "xid";
}

bool is_of_hardware(std::string_view check) {
  for (auto kind = Kind::kXid; kind < Kind::kRule;
       kind = static_cast<Kind>(static_cast<std::uint8_t>(kind) + 1)) {
    if (to_string(kind) == check) return true;
  }
  return false;
}

Event labelled(Kind kind, std::string_view label) {
  Event event;
  event.kind = kind;
  event.label = std::string{label};
  return event;
}

}  // namespace gpuward::xid
