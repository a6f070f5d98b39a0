#include "core/xid/host.h"

#include <array>
#include <utility>

#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// The wording differs between kernels: `Corrected error received`, `Correctable error message
// received`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kClasses{{
    {"Uncorrected (Fatal)", "fatal"},
    {"Uncorrectable (Fatal)", "fatal"},
    {"Uncorrected (Non-Fatal)", "nonfatal"},
    {"Uncorrectable (Non-Fatal)", "nonfatal"},
    {"Corrected", "corrected"},
    {"Correctable", "corrected"},
}};

// Takes the class from the start of `text`; empty if there is none.
std::string_view take_class(Scanner& text) {
  for (const auto& [words, label] : kClasses) {
    if (text.take(words)) return label;
  }
  return {};
}

// `, type=Data Link Layer, (Transmitter ID)`
bool is_type_of_bus_error(Scanner text) {
  const auto is_word = [](char c) { return is_letter(c) || c == ' '; };
  if (!text.take(", type=") || text.take_while(is_word).empty()) return false;
  if (text.at_end()) return true;
  return text.take(", (") && !text.take_while(is_word).empty() && text.rest() == ")";
}

// `received: 0000:00:00.0`, `received: id=00e5`, `message received from 0000:80:1b.4 (no details
// found)`
bool is_receipt(Scanner text) {
  if (text.take("received: id=")) return text.take_number<std::uint32_t>(16) && text.at_end();
  if (!text.take("received: ") && !text.take("message received from ")) return false;
  const auto address = text.take_until(' ');
  return parse_pci_address(address) && (text.at_end() || text.rest() == " (no details found)");
}

// `(no error_detected callback)`, `(state transition 1 -> 3 invalid)`
bool is_reason_not_to_recover(Scanner text) {
  if (text.rest() == "(no error_detected callback)") return true;
  return text.take("(state transition ") && !text.take_while(is_digit).empty() &&
         text.take(" -> ") && !text.take_while(is_digit).empty() && text.rest() == " invalid)";
}

// Matches to the end of the message: the name of a file can contain everything but that.
std::string_view aer_label(Scanner text, bool tagged) {
  if (text.take("PCIe Bus Error: severity=")) {
    const auto label = take_class(text);
    return is_type_of_bus_error(text) ? label : std::string_view{};
  }
  if (!tagged) return {};
  if (text.rest() == "device recovery failed") return "recovery_failed";
  if (text.take("can't recover ")) {
    return is_reason_not_to_recover(text) ? "recovery_failed" : std::string_view{};
  }
  text.take("Multiple ");
  const auto label = take_class(text);
  return text.take(" error ") && is_receipt(text) ? label : std::string_view{};
}

// Takes the address after the driver's name. Checks a few characters first, because most lines of a
// kernel log get this far.
std::optional<PciAddress> take_device(Scanner& text) {
  constexpr std::size_t kMinAddress = 13;  // 0000:00:00.0 and a colon
  constexpr std::size_t kMaxAddress = 17;
  const auto driver = text.take_while([](char c) { return is_identifier(c) || c == '-'; });
  if (driver.empty() || !text.take(" ")) return std::nullopt;
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

// `EDAC MC0: 4 CE error on CPU#0Channel#2_DIMM#0 (channel:2 slot:0 page:0x0 …)`
std::optional<Event> parse_edac(std::string_view message) {
  Scanner text{message};
  if (!text.take("EDAC MC") || text.take_while(is_digit).empty() || !text.take(": "))
    return std::nullopt;
  const auto count = text.take_number<std::uint64_t>();
  if (!count || *count == 0) return std::nullopt;
  const bool corrected = text.take(" CE ");
  if (!corrected && !text.take(" UE ")) return std::nullopt;
  // A process's name may contain all of that, but not the text that edac_mc.c prints after it.
  if (!text.rest().contains("on ") || !text.rest().contains(" page:0x") ||
      !text.rest().ends_with(')'))
    return std::nullopt;
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
