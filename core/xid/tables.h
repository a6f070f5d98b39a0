// The rows of core/xid/data, only for the catalogue and the parser: each file there is the content
// of an array of one of these structs, with the members in order. The text in the rows lives as
// long as the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "core/model/finding.h"
#include "core/model/severity.h"
#include "core/xid/catalogue.h"
#include "core/xid/event.h"

namespace gpuward::xid {

// A pattern of required bits; the others are free.
struct BitPattern {
  std::uint32_t mask = 0;
  std::uint32_t value = 0;

  // 0, 1 and - (free), the most significant bit first; anything else does not compile. Implicit,
  // because the rows contain only the text. NOLINTNEXTLINE(google-explicit-constructor)
  consteval BitPattern(const char (&bits)[33]) {
    for (const char bit : std::string_view(bits, 32)) {
      if (bit != '0' && bit != '1' && bit != '-') throw std::invalid_argument("0, 1 or -");
      mask = mask << 1U | (bit == '-' ? 0U : 1U);
      value = value << 1U | (bit == '1' ? 1U : 0U);
    }
  }
  [[nodiscard]] constexpr bool matches(std::uint32_t word) const { return (word & mask) == value; }
};

// How to compare a rule's status with the error status word: one of its bits, all of it, or not.
enum class StatusMatch : std::uint8_t { kBit, kValue, kAny };

// nvlink5.inc: the meaning of a sub-code of Xid 144-150.
struct Nvlink5Rule {
  std::uint32_t code = 0;
  std::string_view unit;  // "NETIR_LINK_EVT/NETIR_LINK_DOWN": either name
  bool promoted = false;  // the same unit with the bit set that makes the error fatal
  BitPattern before_575;
  BitPattern from_575;
  StatusMatch match = StatusMatch::kAny;
  std::uint32_t status = 0;
  std::string_view action;
  Severity severity = Severity::kMonitor;
};

// xid74.inc: the meaning of one bit of the seven registers of Xid 74.
struct Xid74Bit {
  std::uint32_t register_number = 0;  // 1 and up, in the order of the message
  std::uint32_t bit = 0;
  std::optional<Severity> severity;  // absent: the configured default
  std::string_view action;
  std::string_view why;
};

// recovery.inc: the values of Xid 154.
struct RecoveryAction {
  std::uint32_t value = 0;
  std::string_view text;  // as the driver prints it
  std::string_view action;
  Severity severity = Severity::kMonitor;
  Severity seed_severity = Severity::kMonitor;
  ClearedBy cleared_by = ClearedBy::kReboot;
  bool clears = false;
  std::string_view why;
  std::string_view cleared_why;
};

// sxid_moved.inc: numbers that mean another row if the text begins with `text`.
struct MovedSxid {
  std::uint32_t printed = 0;
  std::string_view text;
  std::uint32_t means = 0;
};

// other.inc: the kinds without numbers. Label "*" matches any.
struct OtherRule {
  Kind kind = Kind::kRmInit;
  std::string_view label;
  std::string_view action;
  Severity severity = Severity::kMonitor;
  ClearedBy cleared_by = ClearedBy::kAge;
  bool clears = false;
  std::string_view why;
  std::string_view cleared_why;
};

[[nodiscard]] std::span<const Nvlink5Rule> nvlink5_rules();
[[nodiscard]] std::span<const Xid74Bit> xid74_bits();
[[nodiscard]] std::span<const RecoveryAction> recovery_actions();
[[nodiscard]] std::span<const MovedSxid> moved_sxids();
[[nodiscard]] std::span<const OtherRule> other_rules();

}  // namespace gpuward::xid
