#include "core/model/pci_address.h"

#include <charconv>
#include <cstdio>

namespace gpuward {
namespace {

// Reads all of `text` as a hexadecimal number of min..max digits.
std::optional<std::uint32_t> parse_hex(std::string_view text, std::size_t min, std::size_t max) {
  if (text.size() < min || text.size() > max) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string PciAddress::bus_id() const {
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%04x:%02x:%02x", domain, bus, device);
  return {text, static_cast<std::size_t>(length)};
}

std::string PciAddress::full() const {
  std::string text = bus_id();
  if (function) {
    text += '.';
    text += "0123456789abcdef"[*function & 0xf];
  }
  return text;
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  PciAddress address;
  if (const auto dot = text.rfind('.'); dot != std::string_view::npos) {
    const auto function = parse_hex(text.substr(dot + 1), 1, 1);
    if (!function) return std::nullopt;
    address.function = static_cast<std::uint8_t>(*function);
    text = text.substr(0, dot);
  }
  const auto last = text.rfind(':');
  if (last == std::string_view::npos) return std::nullopt;
  const auto device = parse_hex(text.substr(last + 1), 2, 2);
  text = text.substr(0, last);
  const auto middle = text.rfind(':');
  const auto bus =
      parse_hex(middle == std::string_view::npos ? text : text.substr(middle + 1), 2, 2);
  if (!device || !bus) return std::nullopt;
  address.device = static_cast<std::uint8_t>(*device);
  address.bus = static_cast<std::uint8_t>(*bus);
  if (middle == std::string_view::npos) return address;
  const auto domain = parse_hex(text.substr(0, middle), 4, 8);
  if (!domain) return std::nullopt;
  address.domain = *domain;
  return address;
}

}  // namespace gpuward
