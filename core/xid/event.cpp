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
    case Kind::kPeermem:
      return "peermem";
    case Kind::kAmdRas:
      return "amd_ras";
    case Kind::kAmdReset:
      return "amd_reset";
    case Kind::kAmdHang:
      return "amd_hang";
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

Event labelled(Kind kind, std::string_view label) {
  Event event;
  event.kind = kind;
  event.label = std::string{label};
  return event;
}

}  // namespace gpuward::xid
