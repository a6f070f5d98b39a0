#include "core/xid/parser.h"

#include <algorithm>
#include <array>

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

// Endings of the kernel's messages that begin with a long text that a process chooses; no driver's
// message ends so. '#' is a number.
constexpr std::array<std::string_view, 4> kEndingsBehindChosenTexts{
    // kernel/signal.c (kernel.print-fatal-signals): the name of a program, up to 255 bytes.
    ": potentially unexpected fatal signal #.",
    // fs/super.c: the source of a mount, up to 4 KiB.
    ": Can't lookup blockdev",
    ": Can't open blockdev",
    // fs/super.c: the name of a block device.
    ": Can't mount, would change RO state",
};

// The kernel cuts a message longer than a record (kernel/printk/printk.c: 975 bytes in Linux 5.15,
// 1023 since), which removes the ending that identifies its source. A driver's message has a few
// hundred bytes.
constexpr std::size_t kMostBytes = 960;

bool ends_as(std::string_view message, std::string_view ending) {
  const auto number = ending.find('#');
  if (number == std::string_view::npos) return message.ends_with(ending);
  const std::string_view behind = ending.substr(number + 1);
  if (!message.ends_with(behind)) return false;
  message.remove_suffix(behind.size());
  while (!message.empty() && is_digit(message.back())) message.remove_suffix(1);
  return message.ends_with(ending.substr(0, number));
}

bool may_begin_with_a_chosen_text(std::string_view message) {
  return message.size() >= kMostBytes ||
         std::ranges::any_of(kEndingsBehindChosenTexts,
                             [&](std::string_view ending) { return ends_as(message, ending); });
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
  return may_begin_with_a_chosen_text(message) ? std::nullopt : parse_known(message);
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
