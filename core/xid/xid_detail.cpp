#include "core/xid/xid_detail.h"

#include <algorithm>

#include "core/xid/scanner.h"
#include "core/xid/tables.h"

namespace gpuward::xid {
namespace {

constexpr std::size_t kMaxRegisters = 16;
constexpr std::size_t kMaxUnit = 64;

// `0x0, 0x0, 0x10000, …)` or `0x004505c6 0x00000000 …)`, behind the parenthesis.
void read_registers(Scanner text, Event& event) {
  while (event.registers.size() < kMaxRegisters && text.take("0x")) {
    const auto value = text.take_number<std::uint32_t>(16);
    if (!value) return;
    event.registers.push_back(*value);
    text.take(",");
    text.skip_spaces();
  }
}

// What stands behind the last `mark`; nothing where there is none. The last, because a program
// whose name holds a comma can put words of its choice in front of the driver's.
Scanner behind_last(std::string_view mark, std::string_view text) {
  const auto at = text.rfind(mark);
  return Scanner{at == std::string_view::npos ? std::string_view{} : text.substr(at + mark.size())};
}

// `NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)`
void read_nvlink(std::string_view text, Event& event) {
  Scanner link = behind_last("on link ", text);
  event.link = link.take_number<std::int32_t>();
  if (event.link && link.take("(")) read_registers(link, event);
}

std::string_view take_word(Scanner& text) {
  text.skip_spaces();
  return text.take_while([](char c) { return c != ' '; });
}

bool read_fatality(std::string_view word, Event& event) {
  if (word == "Fatal") event.fatality = Fatality::kFatal;
  if (word == "Nonfatal" || word == "Non-fatal") event.fatality = Fatality::kNonFatal;
  return event.fatality != Fatality::kUnknown;
}

// The driver's text has no comma before its parenthesis: what stands before one is a program's
// name.
std::string_view without_name(std::string_view text) {
  const auto comma = text.substr(0, text.rfind('(')).rfind(", ");
  return comma == std::string_view::npos ? text : text.substr(comma + 2);
}

// `NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 …)`; the unit is what stands
// before the class, and is one word but for `MSE Degraded`.
void read_nvlink5(std::string_view whole, Event& event) {
  Scanner text{whole};
  std::size_t unit_size = 0;
  while (!text.at_end() && unit_size <= kMaxUnit && !read_fatality(take_word(text), event)) {
    unit_size = whole.size() - text.rest().size();
  }
  if (event.fatality == Fatality::kUnknown) {
    Scanner first{whole};
    event.unit = std::string{take_word(first)};
    return;
  }
  event.unit = std::string{whole.substr(0, unit_size)};
  Scanner link = behind_last("Link ", text.rest());
  event.link = link.take_number<std::int32_t>();
  link.skip_spaces();
  if (event.link && link.take("(")) read_registers(link, event);
}

// `GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)`: only where it leads
// counts. Without a number, the text in the parentheses is looked up.
void read_recovery(Scanner text, Event& event) {
  if (!text.take("GPU recovery action changed from ")) return;
  text.take_until(" to ");
  if (!text.take(" to ")) return;
  if (text.take("0x")) {
    event.recovery_to = text.take_number<std::uint32_t>(16);
    return;
  }
  if (!text.take("(")) return;
  const auto name = text.take_until(')');
  for (const auto& action : recovery_actions()) {
    if (action.text == name) event.recovery_to = action.value;
  }
}

// `Ch 00000001 caused by previous Xid 149`
void read_cause(std::string_view text, Event& event) {
  event.caused_by_xid = behind_last("caused by previous Xid ", text).take_number<std::uint32_t>();
}

}  // namespace

void read_xid_detail(std::string_view text, Event& event) {
  constexpr std::uint32_t kPreemptiveRemoval = 45;
  constexpr std::uint32_t kNvlinkFault = 74;
  constexpr std::uint32_t kNvlink5First = 144;
  constexpr std::uint32_t kNvlink5Last = 150;
  constexpr std::uint32_t kRecoveryActionChanged = 154;
  if (event.code == kPreemptiveRemoval) read_cause(text, event);
  if (event.code == kNvlinkFault) read_nvlink(text, event);
  if (event.code >= kNvlink5First && event.code <= kNvlink5Last)
    read_nvlink5(without_name(text), event);
  if (event.code == kRecoveryActionChanged) read_recovery(Scanner{text}, event);
}

}  // namespace gpuward::xid
