#include "core/xid/xid74.h"

#include "core/xid/tables.h"

namespace gpuward::xid {
namespace {

const Xid74Bit* find_bit(std::size_t index, std::uint32_t bit) {
  for (const auto& row : xid74_bits()) {
    if (row.register_number == index + 1 && row.bit == bit) return &row;
  }
  return nullptr;
}

}  // namespace

Xid74Reading read_xid74(std::span<const std::uint32_t> registers, Severity undecided) {
  Xid74Reading worst;
  for (std::size_t index = 0; index < registers.size(); ++index) {
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      if ((registers[index] >> bit & 1U) == 0) continue;
      const auto* row = find_bit(index, bit);
      if (row == nullptr) return {};
      const auto severity = row->severity.value_or(undecided);
      if (!worst.decided || severity > worst.severity)
        worst = {true, severity, row->action, row->why};
    }
  }
  return worst;
}

}  // namespace gpuward::xid
