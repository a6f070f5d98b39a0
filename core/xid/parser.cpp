#include "core/xid/parser.h"

#include "core/xid/amdgpu.h"
#include "core/xid/host.h"
#include "core/xid/nvrm.h"
#include "core/xid/nvswitch.h"
#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// `nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further
// processing`
std::optional<Event> parse_peermem(std::string_view message) {
  Scanner text{message};
  if (!text.take("nvidia-peermem ") && !text.take("nvidia_peermem ")) return std::nullopt;
  if (text.take_while(is_identifier).empty() || !text.take(":")) return std::nullopt;
  if (text.take_while(is_digit).empty()) return std::nullopt;
  if (!text.take(" ERROR detected invalid context")) return std::nullopt;
  Event event;
  event.kind = Kind::kPeermem;
  event.label = "invalid_context";
  return event;
}

// `FILE: NAME: potentially unexpected fatal signal 11.` (kernel.print-fatal-signals) begins with a
// name of up to 255 bytes. A driver's message ends otherwise.
bool is_of_a_fatal_signal(std::string_view message) {
  constexpr std::string_view kBefore = ": potentially unexpected fatal signal ";
  if (!message.ends_with('.')) return false;
  message.remove_suffix(1);
  while (!message.empty() && is_digit(message.back())) message.remove_suffix(1);
  return message.ends_with(kBefore);
}

std::optional<Event> parse_known(std::string_view message) {
  if (message.starts_with("NVRM: ")) return parse_nvrm(message);
  if (message.starts_with("nvidia-nvswitch")) return parse_nvswitch(message);
  if (message.starts_with("nvidia-peermem ") || message.starts_with("nvidia_peermem "))
    return parse_peermem(message);
  if (message.starts_with("[drm:amdgpu")) return parse_amdgpu(message);
  if (message.starts_with("amdgpu")) {
    const auto event = parse_amdgpu(message);
    return event ? event : parse_aer(message);
  }
  if (message.starts_with("EDAC ")) return parse_edac(message);
  if (message.starts_with("mce: ")) return parse_mce(message);
  return parse_aer(message);
}

}  // namespace

std::optional<Event> parse_message(std::string_view message) {
  return is_of_a_fatal_signal(message) ? std::nullopt : parse_known(message);
}

bool is_of_packet_filter(std::string_view message) {
  for (auto at = message.find("IN="); at != std::string_view::npos;
       at = message.find("IN=", at + 1)) {
    Scanner interfaces{message.substr(at)};
    interfaces.take_until(' ');
    if (interfaces.sees(" OUT=")) return true;
  }
  return false;
}

std::optional<Event> parse_record(std::string_view line) {
  return parse_message(strip_prefixes(line));
}

}  // namespace gpuward::xid
