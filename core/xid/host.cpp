#include "core/xid/host.h"

#include <array>
#include <utility>

#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// The wording has changed over the kernels: `Corrected error received`, `Correctable error message
// received`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kClasses{{
    {"Uncorrected (Fatal)", "fatal"},
    {"Uncorrectable (Fatal)", "fatal"},
    {"Uncorrected (Non-Fatal)", "nonfatal"},
    {"Uncorrectable (Non-Fatal)", "nonfatal"},
    {"Corrected", "corrected"},
    {"Correctable", "corrected"},
}};

// Takes the class off `text` where one stands here; empty where none does.
std::string_view take_class(Scanner& text) {
  for (const auto& [words, label] : kClasses) {
    if (text.take(words)) return label;
  }
  return {};
}

std::string_view aer_label(Scanner text, bool tagged) {
  if (text.take("PCIe Bus Error: severity=")) return take_class(text);
  if (!tagged) return {};
  if (text.sees("can't recover") || text.sees("device recovery failed")) return "recovery_failed";
  text.take("Multiple ");
  const auto label = take_class(text);
  return text.sees(" error ") ? label : std::string_view{};
}

// The address behind the driver's name. Looks at few characters before it does anything: most lines
// of a kernel log come this far.
std::optional<PciAddress> take_device(Scanner& text) {
  constexpr std::size_t kMinAddress = 13;  // 0000:00:00.0 and a colon
  constexpr std::size_t kMaxAddress = 17;
  text.take_until(' ');
  if (!text.take(" ")) return std::nullopt;
  const auto word = text.take_until(' ');
  if (word.size() < kMinAddress || word.size() > kMaxAddress || !word.ends_with(':'))
    return std::nullopt;
  return parse_pci_address(word.substr(0, word.size() - 1));
}

}  // namespace

std::optional<Event> parse_aer(std::string_view message) {
  Scanner text{message};
  const auto pci = take_device(text);
  if (!pci) return std::nullopt;
  text.take(" ");
  const bool tagged = text.take("AER: ");
  const auto label = aer_label(text, tagged);
  if (label.empty()) return std::nullopt;
  auto event = labelled(Kind::kAer, label);
  event.pci = pci;
  return event;
}

// `EDAC MC0: 4 CE error on CPU#0Channel#2_DIMM#0 (…)`
std::optional<Event> parse_edac(std::string_view message) {
  Scanner text{message};
  if (!text.take("EDAC MC") || text.take_while(is_digit).empty() || !text.take(": "))
    return std::nullopt;
  const auto count = text.take_number<std::uint64_t>();
  if (!count || *count == 0) return std::nullopt;
  const bool corrected = text.take(" CE ");
  if (!corrected && !text.take(" UE ")) return std::nullopt;
  // The words of the memory controller's driver: a process's name ends before them (15 bytes).
  if (text.at_end() || !is_letter(text.rest().front())) return std::nullopt;
  auto event = labelled(Kind::kEdac, corrected ? "CE" : "UE");
  event.count = *count;
  return event;
}

// `mce: [Hardware Error]: Machine check events logged` and `mce: [Hardware Error]: CPU 1: Machine
// Check Exception: 5 Bank 4: …`; the register lines between them belong to one of the two.
std::optional<Event> parse_mce(std::string_view message) {
  Scanner text{message};
  if (!text.take("mce: ")) return std::nullopt;
  text.take("[Hardware Error]: ");
  if (text.sees("Machine check events logged")) return labelled(Kind::kMce, "logged");
  if (!text.take("CPU ") || text.take_while(is_digit).empty() || !text.take(": "))
    return std::nullopt;
  if (text.sees("Machine Check Exception: ")) return labelled(Kind::kMce, "exception");
  return std::nullopt;
}

}  // namespace gpuward::xid
