#include "core/xid/nvswitch.h"

#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

constexpr std::size_t kMaxText = 256;

// `Severity 0 Engine instance 44 …`, `Data {0x0000002b, …}`, `SOE HALT data[0] = 0x …`: a register
// dump of the event before it.
bool is_detail(std::string_view text) {
  return text.starts_with("Severity ") || text.starts_with("Data {") || text.contains(" data[");
}

void read_class(Scanner& text, Event& event) {
  if (text.take("Fatal, ")) event.fatality = Fatality::kFatal;
  if (text.take("Non-fatal, ")) event.fatality = Fatality::kNonFatal;
  if (text.take("Correctable, ")) event.fatality = Fatality::kCorrectable;
}

void read_link(Scanner& text, Event& event) {
  Scanner ahead = text;
  if (!ahead.take("Link ")) return;
  event.link = ahead.take_number<std::int32_t>();
  if (!event.link) return;
  ahead.skip_spaces();
  text = ahead;
}

}  // namespace

std::optional<Event> parse_nvswitch(std::string_view message) {
  Scanner text{message};
  Event event;
  event.kind = Kind::kSxid;
  if (!text.take("nvidia-nvswitch") || text.take_while(is_digit).empty()) return std::nullopt;
  const auto name = message.substr(0, message.size() - text.rest().size());
  if (!text.take(": SXid (")) return std::nullopt;
  text.take("PCI:");
  event.pci = parse_pci_address(text.take_until(')'));
  if (!event.pci || !text.take("): ")) return std::nullopt;
  const auto code = text.take_number<std::uint32_t>();
  if (!code || !(text.take(", ") || text.at_end()) || is_detail(text.rest())) return std::nullopt;
  event.code = *code;
  event.switch_name = std::string{name};
  read_class(text, event);
  read_link(text, event);
  event.unit = std::string{text.rest().substr(0, kMaxText)};
  return event;
}

}  // namespace gpuward::xid
