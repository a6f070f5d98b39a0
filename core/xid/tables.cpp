#include "core/xid/tables.h"

namespace gpuward::xid {

using enum Severity;
using enum StatusMatch;

std::span<const Row> xid_rows() {
  static constexpr Row kRows[] = {
#include "core/xid/data/xid.inc"
  };
  return kRows;
}

std::span<const Row> sxid_rows() {
  static constexpr Row kRows[] = {
#include "core/xid/data/sxid.inc"
  };
  return kRows;
}

std::span<const Nvlink5Rule> nvlink5_rules() {
  static constexpr Nvlink5Rule kRows[] = {
#include "core/xid/data/nvlink5.inc"
  };
  return kRows;
}

std::span<const Xid74Bit> xid74_bits() {
  static constexpr Xid74Bit kRows[] = {
#include "core/xid/data/xid74.inc"
  };
  return kRows;
}

std::span<const RecoveryAction> recovery_actions() {
  static constexpr RecoveryAction kRows[] = {
#include "core/xid/data/recovery.inc"
  };
  return kRows;
}

std::span<const MovedSxid> moved_sxids() {
  static constexpr MovedSxid kRows[] = {
#include "core/xid/data/sxid_moved.inc"
  };
  return kRows;
}

std::span<const OtherRule> other_rules() {
  static constexpr OtherRule kRows[] = {
#include "core/xid/data/other.inc"
  };
  return kRows;
}

}  // namespace gpuward::xid
