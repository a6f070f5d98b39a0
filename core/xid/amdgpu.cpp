#include "core/xid/amdgpu.h"

#include <algorithm>
#include <array>

#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

constexpr bool not_space(char c) { return c != ' '; }

// `amdgpu 0000:68:00.0: `, `amdgpu 0000:03:00.0: amdgpu: `, `amdgpu: `, `[drm:amdgpu_job_timedout
// [amdgpu]] *ERROR* `. False where the message is not the driver's.
bool take_driver(Scanner& text, std::optional<PciAddress>& pci) {
  if (text.take("[drm:amdgpu")) {
    text.take_until("]] ");
    if (!text.take("]] ")) return false;
    text.take("*ERROR* ");
    return true;
  }
  if (!text.take("amdgpu")) return false;
  if (text.take(" ")) {
    pci = parse_pci_address(text.take_until(": "));
    if (!pci) return false;
  }
  if (!text.take(": ")) return false;
  text.take("amdgpu: ");
  return true;
}

// `{1}`: the number of the RAS event.
void skip_event_number(Scanner& text) {
  Scanner ahead = text;
  if (ahead.take("{") && !ahead.take_while(is_digit).empty() && ahead.take("}")) text = ahead;
  text.take("[Hardware Error]: ");
}

// `MODE1 reset`, `BACO reset`: which way of resetting the driver took.
bool is_method(std::string_view text) {
  constexpr std::array<std::string_view, 8> kMethods{
      "MODE0 reset", "MODE1 reset",      "MODE2 reset",  "BACO reset",
      "PCI reset",   "PCI CONFIG reset", "legacy reset", "LEGACY reset"};
  return std::ranges::find(kMethods, text) != kMethods.end();
}

// Behind `GPU reset`.
std::optional<Event> parse_gpu_reset(Scanner text) {
  if (text.take("(")) {
    text.take_while(is_digit);
    if (!text.take(")")) return std::nullopt;
  }
  if (text.sees(" begin")) return labelled(Kind::kAmdReset, "begin");
  if (text.sees(" succeeded")) return labelled(Kind::kAmdReset, "succeeded");
  if (text.sees(" failed")) return labelled(Kind::kAmdReset, "failed");
  if (text.take(" end with ret = ") && text.take_number<int>().value_or(0) != 0) {
    return labelled(Kind::kAmdReset, "failed");
  }
  return std::nullopt;
}

// Behind `ring ` or `Ring `: `gfx_0.0.0 timeout, signaled seq=…`, `gfx_0.0.0 reset failed`. One
// queue is not the GPU: where its reset fails (`reset failure` in older kernels), the driver resets
// the whole GPU next.
std::optional<Event> parse_ring(Scanner text) {
  text.take_while(not_space);
  if (text.sees(" timeout")) return labelled(Kind::kAmdHang, "ring_timeout");
  if (text.sees(" reset fail")) return labelled(Kind::kAmdReset, "ring_reset_failed");
  if (text.sees(" reset succeeded")) return labelled(Kind::kAmdReset, "ring_reset_succeeded");
  return std::nullopt;
}

std::optional<Event> parse_reset(std::string_view message) {
  Scanner text{message};
  if (text.take("GPU reset")) return parse_gpu_reset(text);
  if (text.take("ring ") || text.take("Ring ")) return parse_ring(text);
  if (text.sees("VRAM is lost")) return labelled(Kind::kAmdReset, "vram_lost");
  if (text.sees("qcm fence wait loop timeout")) return labelled(Kind::kAmdHang, "fence_timeout");
  if (is_method(message)) return labelled(Kind::kAmdReset, "method");
  if (text.take("Starting ")) {
    text.take_while(not_space);
    if (text.sees(" ring reset")) return labelled(Kind::kAmdReset, "begin");
  }
  return std::nullopt;
}

std::string_view last_word(std::string_view text) {
  const auto space = text.rfind(' ');
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

std::string_view without_last_word(std::string_view text) {
  const auto word = last_word(text);
  return text.substr(0, text.size() - std::min(text.size(), word.size() + 1));
}

std::optional<std::string_view> ras_label(std::string_view word) {
  if (word == "correctable") return "CE";
  if (word == "uncorrectable") return "UE";
  if (word == "deferred") return "DE";
  return std::nullopt;
}

// `socket: 4, die: 0, 3 new uncorrectable hardware errors detected in umc block`. The line `… in
// total in umc block` that comes with it is the sum since the start, and no event of its own.
std::optional<Event> parse_count(std::string_view message) {
  constexpr std::string_view kDetected = " hardware errors detected in ";
  const auto at = message.find(kDetected);
  if (at == std::string_view::npos || message.substr(at + kDetected.size()).starts_with("total"))
    return std::nullopt;
  auto before = message.substr(0, at);
  const auto label = ras_label(last_word(before));
  if (!label) return std::nullopt;
  before = without_last_word(before);
  if (last_word(before) == "new") before = without_last_word(before);
  const auto count = Scanner{last_word(before)}.take_number<std::uint64_t>();
  if (!count || *count == 0) return std::nullopt;
  auto event = labelled(Kind::kAmdRas, *label);
  event.count = *count;
  return event;
}

std::optional<Event> parse_ras(std::string_view message) {
  if (message.starts_with("uncorrectable hardware error(")) return labelled(Kind::kAmdRas, "UE");
  if (message.starts_with("Accelerator Check Architecture events logged"))
    return labelled(Kind::kAmdRas, "ACA");
  return parse_count(message);
}

}  // namespace

std::optional<Event> parse_amdgpu(std::string_view message) {
  Scanner text{message};
  std::optional<PciAddress> pci;
  if (!take_driver(text, pci)) return std::nullopt;
  skip_event_number(text);
  auto event = parse_reset(text.rest());
  if (!event) event = parse_ras(text.rest());
  if (event) event->pci = pci;
  return event;
}

}  // namespace gpuward::xid
