#include "core/xid/nvrm.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/xid/event.h"
#include "core/xid/parser.h"
#include "core/xid/scanner.h"
#include "core/xid/tables.h"

namespace gpuward::xid {
namespace {

// The details of an Xid after its number, process and name: the link and registers of 74 and
// 144-150, the advice of 154, the cause of 45.

constexpr std::size_t kMaxRegisters = 16;
constexpr std::size_t kMaxUnit = 64;

// `0x0, 0x0, 0x10000, …)` or `0x004505c6 0x00000000 …)`, after the opening parenthesis.
void read_registers(Scanner text, Event& event) {
  while (event.registers.size() < kMaxRegisters && text.take("0x")) {
    const auto value = text.take_number<std::uint32_t>(16);
    if (!value) return;
    event.registers.push_back(*value);
    text.take(",");
    text.skip_spaces();
  }
}

// Returns the text after the last `mark`; empty if there is none. An earlier `mark` may be part of
// a process name that the line contains.
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

// The driver's text has no comma before its parenthesis: text before a comma is a program's name.
std::string_view without_name(std::string_view text) {
  const auto comma = text.substr(0, text.rfind('(')).rfind(", ");
  return comma == std::string_view::npos ? text : text.substr(comma + 2);
}

// `NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 …)`; the unit precedes the class
// and is one word, except `MSE Degraded`.
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

// `GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)`: the value after `to`
// counts. If it has no number, the text in the parentheses is looked up.
void read_recovery(std::string_view whole, Event& event) {
  Scanner text = behind_last("GPU recovery action changed from ", whole);
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

// `Contained: CE User Channel (0x9). RST: No, D-RST: Yes`: the driver's request, at the end of the
// message, which a program's name cannot reach.
void read_contained(std::string_view text, Event& event) {
  for (const std::string_view answers :
       {" RST: Yes, D-RST: No", " RST: No, D-RST: Yes", " RST: Yes, D-RST: Yes"}) {
    event.asks_for_reset |= text.ends_with(answers);
  }
}

// Fills the fields of `event` that exist for its code; fields that the text does not contain stay
// unchanged.
void read_xid_detail(std::string_view text, Event& event) {
  constexpr std::uint32_t kPreemptiveRemoval = 45;
  constexpr std::uint32_t kNvlinkFault = 74;
  constexpr std::uint32_t kContained = 94;
  constexpr std::uint32_t kNvlink5First = 144;
  constexpr std::uint32_t kNvlink5Last = 150;
  constexpr std::uint32_t kRecoveryActionChanged = 154;
  if (event.code == kPreemptiveRemoval) read_cause(text, event);
  if (event.code == kNvlinkFault) read_nvlink(text, event);
  if (event.code == kContained) read_contained(text, event);
  if (event.code >= kNvlink5First && event.code <= kNvlink5Last)
    read_nvlink5(without_name(text), event);
  if (event.code == kRecoveryActionChanged) read_recovery(text, event);
}

constexpr std::uint32_t kFallenOffTheBus = 79;
constexpr std::size_t kMaxRmCode = 32;  // `0x22:0x56:894`
constexpr std::string_view kUnknown = "<unknown>";

// Drivers before 2010 print only bus and slot: `0009:00`.
std::optional<PciAddress> parse_old_address(std::string_view text) {
  if (text.size() != 7 || !text.starts_with("00") || text[4] != ':') return std::nullopt;
  return parse_pci_address(text.substr(2));
}

// An address that a user has redacted before posting the log: `PCI:...`, `PCI:xxxx:xx:00`.
bool is_redacted(std::string_view text) {
  const auto fits = [](char c) {
    return std::string_view{"0123456789abcdefABCDEF:.xX*?#"}.contains(c);
  };
  return std::ranges::all_of(text, fits) && text.find_first_of(".xX*?#") != std::string_view::npos;
}

bool take_instance(Scanner& attribute, std::string_view name,
                   std::optional<std::uint32_t>& instance) {
  if (!attribute.take(name)) return true;
  instance = attribute.take_number<std::uint32_t>();
  return instance.has_value();
}

// `PCI:0000:4e:00 GPU-I:05 GPU-CI:00`: the content of an Xid's parentheses.
bool read_attribute(std::string_view text, Event& event) {
  Scanner attribute{text};
  const bool named = attribute.take("PCI:");
  const auto address = attribute.take_until(' ');
  event.pci = parse_pci_address(address);
  if (!event.pci) event.pci = parse_old_address(address);
  if (!event.pci && !(named && is_redacted(address))) return false;
  return take_instance(attribute, " GPU-I:", event.gpu_instance) &&
         take_instance(attribute, " GPU-CI:", event.compute_instance) && attribute.at_end();
}

void read_pid(Scanner& text, Event& event) {
  if (!text.take("pid=")) return;
  Scanner value{text.take_until(',')};
  event.pid = value.take_number<std::int64_t>();
  text.take(",");
  text.skip_spaces();
}

// The program chooses its name, which may contain any text; it ends at the first comma and space.
void read_name(Scanner& text, Event& event) {
  if (!text.take("name=")) return;
  const auto name = text.take_until(", ");
  if (!name.empty() && name != kUnknown) event.process = std::string{name};
  text.take(", ");
  text.skip_spaces();
}

// `(PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.` Only the
// number directly after the parenthesis counts: later text may be chosen by a program.
std::optional<Event> parse_xid(Scanner text) {
  constexpr std::size_t kMaxAttribute = 64;
  constexpr std::size_t kMaxDigits = 5;
  Event event;
  const auto attribute = Scanner{text.rest().substr(0, kMaxAttribute)}.take_until(')');
  if (!read_attribute(attribute, event)) return std::nullopt;
  text.skip(attribute.size());
  if (!text.take("): ")) return std::nullopt;
  Scanner digits{text.take_while(is_digit)};
  const auto code =
      digits.rest().size() <= kMaxDigits ? digits.take_number<std::uint32_t>() : std::nullopt;
  if (!code) return std::nullopt;
  event.code = *code;
  const bool more = text.take(",");
  text.skip_spaces();
  if (!more && !text.at_end()) return std::nullopt;
  read_pid(text, event);
  read_name(text, event);
  read_xid_detail(text.rest(), event);
  return event;
}

Event fallen_off(const PciAddress& pci) {
  Event event;
  event.code = kFallenOffTheBus;
  event.label = "fallen_off";
  event.pci = pci;
  return event;
}

// `RmInitAdapter failed! (0x22:0x56:894)`
std::optional<Event> parse_rm_init(Scanner text, std::optional<PciAddress> pci) {
  if (!text.take("RmInitAdapter failed! (")) return std::nullopt;
  const auto code = text.take_while(
      [](char c) { return std::string_view{"0123456789abcdefABCDEFx:"}.contains(c); });
  if (code.empty() || code.size() > kMaxRmCode || !text.sees(")")) return std::nullopt;
  Event event;
  event.kind = Kind::kRmInit;
  event.label = std::string{code};
  event.pci = pci;
  return event;
}

// The text after `GPU at `: `PCI:0000:01:00: GPU-<uuid>` or, from old drivers, `0000:01:00.0 has
// fallen off the bus.`
std::optional<Event> parse_old_fallen_off(Scanner text) {
  text.take("PCI:");
  const auto word = text.take_until(' ');
  const auto pci = parse_pci_address(word.ends_with(':') ? word.substr(0, word.size() - 1) : word);
  if (!pci || !text.take(" has fallen off the bus")) return std::nullopt;
  return fallen_off(*pci);
}

// The text after `GPU `: `0000:29:00.0: GPU has fallen off the bus.` or `0000:29:00.0:
// RmInitAdapter failed! (…)`.
std::optional<Event> parse_gpu(Scanner text) {
  const auto pci = parse_pci_address(text.take_until(": "));
  if (!pci || !text.take(": ")) return std::nullopt;
  if (text.sees("GPU has fallen off the bus")) return fallen_off(*pci);
  return parse_rm_init(text, pci);
}

// Skips the rest of a line and its break: a real one, or as /dev/kmsg and rsyslog escape it.
bool take_line_break(Scanner& text) {
  constexpr std::array<std::string_view, 3> kBreaks{"\n", "\\x0a", "#012"};
  std::size_t behind = std::string_view::npos;
  for (const auto line_break : kBreaks) {
    const auto at = text.rest().find(line_break);
    if (at != std::string_view::npos) behind = std::min(behind, at + line_break.size());
  }
  if (behind == std::string_view::npos) return false;
  text.skip(behind);
  return true;
}

// One record of three lines at probe time: `The NVIDIA GPU 0000:b3:00.0` / `NVRM: (PCI ID:
// 10de:26b5) installed in this system has` / `NVRM: fallen off the bus and is not responding to
// commands.`
std::optional<Event> parse_probe(Scanner text) {
  const auto address =
      text.take_while([](char c) { return is_digit(c) || is_letter(c) || c == ':' || c == '.'; });
  const auto pci = parse_pci_address(address);
  if (!pci) return std::nullopt;
  while (take_line_break(text)) {
    text.skip_spaces();
    if (!text.take("NVRM: ")) return std::nullopt;
    if (text.sees("fallen off the bus")) return fallen_off(*pci);
  }
  return std::nullopt;
}

struct Word {
  std::string_view text;
  std::string_view label;
};

// The texts after `Assertion failed: ` or `Check failed: `, as in nvstatuscodes.h with their names
// (NVIDIA open-gpu-kernel-modules 580). The driver prints no address with them.
constexpr std::array<Word, 2> kFailures{{
    {"Reset required [NV_ERR_RESET_REQUIRED] (0x", "reset_required"},
    {"GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x", "gpu_lost"},
}};

// `nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062)
// returned from status @ kernel_channel.c:2874`, `nvGpuOpsReportFatalError: uvm encountered global
// fatal error 0x60, requiring os reboot to recover.` Newer drivers print `GPU5 ` first: their
// number of the GPU, not an address.
std::optional<Event> parse_words(Scanner text) {
  Scanner numbered = text;
  if (numbered.take("GPU") && !numbered.take_while(is_digit).empty() && numbered.take(" "))
    text = numbered;
  if (text.take_while(is_identifier).empty() || !text.take(": ")) return std::nullopt;
  if (text.take("uvm encountered global fatal error 0x")) {
    text.take_while([](char c) { return is_digit(c) || is_letter(c); });
    if (!text.take(", requiring os reboot to recover")) return std::nullopt;
    return labelled(Kind::kNvrm, "uvm_fatal");
  }
  if (!text.take("Assertion failed: ") && !text.take("Check failed: ")) return std::nullopt;
  for (const auto& [words, label] : kFailures) {
    if (text.sees(words)) return labelled(Kind::kNvrm, label);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Event> parse_nvrm(std::string_view message) {
  Scanner text{message};
  if (!text.take("NVRM: ")) return std::nullopt;
  if (text.take("Xid (")) return parse_xid(text);
  if (text.take("GPU at ")) return parse_old_fallen_off(text);
  if (text.take("GPU ")) return parse_gpu(text);
  if (auto event = parse_words(text)) return event;
  if (text.take("The NVIDIA GPU ")) return parse_probe(text);
  return parse_rm_init(text, std::nullopt);
}

std::optional<UuidLine> parse_uuid_line(std::string_view message) {
  constexpr std::size_t kUuidSize = 40;  // GPU- and 36 of hexadecimal digits and hyphens
  Scanner text{message};
  if (!text.take("NVRM: GPU at ")) return std::nullopt;
  text.take("PCI:");
  const auto pci = parse_pci_address(text.take_until(": "));
  if (!pci || !text.take(": ") || !text.sees("GPU-")) return std::nullopt;
  const auto uuid = text.take_while([](char c) { return is_digit(c) || is_letter(c) || c == '-'; });
  if (uuid.size() != kUuidSize) return std::nullopt;
  return UuidLine{*pci, std::string{uuid}};
}

}  // namespace gpuward::xid
