#include "core/xid/amdgpu.h"

#include <algorithm>
#include <array>

#include "core/xid/scanner.h"

namespace gpuward::xid {
namespace {

// `gfx_0.0.0`
constexpr bool is_ring_name(char c) { return is_identifier(c) || c == '.'; }

// Whether a word ends here: a punctuation mark follows, or the text ends.
bool ends_word(const Scanner& text) {
  return text.at_end() || std::string_view{"!,."}.contains(text.rest().front());
}

// `amdgpu 0000:68:00.0: `, `amdgpu 0000:03:00.0: amdgpu: `, `amdgpu: `, `[drm:amdgpu_job_timedout
// [amdgpu]] *ERROR* `. False if the message is not the driver's.
bool take_driver(Scanner& text, std::optional<PciAddress>& pci) {
  if (text.take("[drm:amdgpu")) {
    text.take_while(is_identifier);
    if (!text.take(" [amdgpu]] ")) return false;
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

// `MODE1 reset`, `BACO reset`: the driver's methods of resetting.
bool is_method(std::string_view text) {
  constexpr std::array<std::string_view, 8> kMethods{
      "MODE0 reset", "MODE1 reset",      "MODE2 reset",  "BACO reset",
      "PCI reset",   "PCI CONFIG reset", "legacy reset", "LEGACY reset"};
  return std::ranges::find(kMethods, text) != kMethods.end();
}

// A GPU that the driver cannot start or resume, or that is gone: matches the line in which the
// driver gives up, not the steps before it (Linux 5.15 to 7.2: amdgpu_device.c, amdgpu_kms.c,
// drivers/base/dd.c).
std::optional<Event> parse_lost(std::string_view message) {
  struct Loss {
    std::string_view words;
    std::string_view label;
  };
  constexpr std::array<Loss, 4> kLosses{{
      {"device lost from bus", "off_bus"},
      {"amdgpu_device_ip_resume failed (", "resume_failed"},
      {"Fatal error during GPU init", "init_failed"},
      {"probe with driver amdgpu failed with error -", "probe_failed"},
  }};
  for (const auto& [words, label] : kLosses) {
    if (message.starts_with(words)) return labelled(Kind::kAmdLost, label);
  }
  // Before Linux 6.2, the text contains the address: `probe of 0000:03:00.0 failed with error -22`.
  Scanner text{message};
  if (!text.take("probe of ")) return std::nullopt;
  const auto pci = parse_pci_address(text.take_until(' '));
  if (!pci || !text.take(" failed with error -")) return std::nullopt;
  auto event = labelled(Kind::kAmdLost, "probe_failed");
  event.pci = pci;
  return event;
}

// `MES might be in unrecoverable state, issue a GPU reset` and, before it, `MES failed to respond
// to msg=REMOVE_QUEUE`; with several of them `MES(0, 0) failed …`, in older kernels `failed to
// response msg=3`.
std::optional<Event> parse_scheduler(Scanner text) {
  if (text.sees(" might be in unrecoverable state")) return labelled(Kind::kAmdHang, "mes_hang");
  if (text.take("(")) {
    text.take_until(')');
    if (!text.take(")")) return std::nullopt;
  }
  if (text.sees(" failed to respond to msg=") || text.sees(" failed to response msg="))
    return labelled(Kind::kAmdHang, "mes_no_answer");
  return std::nullopt;
}

// The text after `GPU reset`.
std::optional<Event> parse_gpu_reset(Scanner text) {
  if (text.take("(")) {
    text.take_while(is_digit);
    if (!text.take(")")) return std::nullopt;
  }
  for (const std::string_view outcome : {"begin", "succeeded", "failed"}) {
    Scanner ahead = text;
    if (!ahead.take(" ") || !ahead.take(outcome)) continue;
    if (ends_word(ahead) || ahead.sees(" with error ")) return labelled(Kind::kAmdReset, outcome);
  }
  if (text.take(" end with ret = ") && text.take_number<int>().value_or(0) != 0) {
    return labelled(Kind::kAmdReset, "failed");
  }
  return std::nullopt;
}

// The text after `ring ` or `Ring `: `gfx_0.0.0 timeout, signaled seq=…`, `gfx_0.0.0 reset failed`.
// One queue is not the GPU: if its reset fails (`reset failure` in older kernels), the driver
// resets the whole GPU next. If it could stop the job without a reset, it prints only `gfx_0.0.0
// timeout, but soft recovered`.
std::optional<Event> parse_ring(Scanner text) {
  if (text.take_while(is_ring_name).empty()) return std::nullopt;
  if (text.sees(" timeout, but soft recovered")) return labelled(Kind::kAmdReset, "ring_recovered");
  if (text.take(" timeout") && ends_word(text)) return labelled(Kind::kAmdHang, "ring_timeout");
  if (text.take(" reset succeeded")) return labelled(Kind::kAmdReset, "ring_reset_succeeded");
  if (text.take(" reset fail")) return labelled(Kind::kAmdReset, "ring_reset_failed");
  return std::nullopt;
}

// A queue did not end on request; on MI300X the part of the GPU precedes it (`XCC 3: `). The driver
// then resets the queue, or begins a reset of the GPU and logs that in a separate line.
bool is_preemption_failure(std::string_view message) {
  Scanner text{message};
  if (text.sees("HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out")) return true;
  if (text.take("XCC ") && (text.take_while(is_digit).empty() || !text.take(": "))) return false;
  return text.sees("Queue preemption failed for queue with doorbell_id: ");
}

std::optional<Event> parse_reset(std::string_view message) {
  Scanner text{message};
  if (text.take("GPU reset")) return parse_gpu_reset(text);
  if (message.starts_with("GPU mode1 reset failed")) return labelled(Kind::kAmdReset, "failed");
  if (text.take("MES")) return parse_scheduler(text);
  if (text.take("ring ") || text.take("Ring ")) return parse_ring(text);
  if (text.sees("VRAM is lost")) return labelled(Kind::kAmdReset, "vram_lost");
  if (text.sees("qcm fence wait loop timeout")) return labelled(Kind::kAmdHang, "fence_timeout");
  if (is_preemption_failure(message)) return labelled(Kind::kAmdHang, "preemption_failed");
  if (is_method(message)) return labelled(Kind::kAmdReset, "method");
  if (text.take("Starting ")) {
    text.take_while(is_ring_name);
    if (text.sees(" ring reset")) return labelled(Kind::kAmdReset, "begin");
  }
  return std::nullopt;
}

std::optional<std::string_view> take_ras_label(Scanner& text) {
  if (text.take("correctable")) return "CE";
  if (text.take("uncorrectable")) return "UE";
  if (text.take("deferred")) return "DE";
  return std::nullopt;
}

// `socket: 4, die: 0, `; older kernels print no comma after it.
void skip_place(Scanner& text) {
  Scanner ahead = text;
  if (!ahead.take("socket: ") || ahead.take_while(is_digit).empty()) return;
  if (!ahead.take(", die: ") || ahead.take_while(is_digit).empty()) return;
  ahead.take(",");
  if (ahead.take(" ")) text = ahead;
}

// `socket: 4, die: 0, 3 new uncorrectable hardware errors detected in umc block`, `2 uncorrectable
// hardware errors detected in GFX, instance: 0, memory block: GC_CANE_MEM`. The line `… in total in
// umc block` that comes with it is the sum since the start, not another event.
std::optional<Event> parse_count(std::string_view message) {
  Scanner text{message};
  skip_place(text);
  const auto count = text.take_number<std::uint64_t>();
  if (!count || *count == 0 || !text.take(" ")) return std::nullopt;
  text.take("new ");
  const auto label = take_ras_label(text);
  if (!label || !text.take(" hardware errors detected in ") || text.sees("total"))
    return std::nullopt;
  if (text.take_while(is_identifier).empty()) return std::nullopt;
  if (!text.sees(" block") && !text.sees(", instance: ")) return std::nullopt;
  auto event = labelled(Kind::kAmdRas, *label);
  event.count = *count;
  return event;
}

// The EEPROM has as many bad pages as the GPU may have, or more (amdgpu_ras_eeprom.c of Linux 5.15
// to 7.2): `RAS records:257 exceed threshold:256`, `Saved bad pages 256 reaches threshold value
// 256`. `RAS records:230 exceeds 90% of threshold:256` only warns.
bool is_over_threshold(Scanner text) {
  if (text.take("RAS records:"))
    return !text.take_while(is_digit).empty() && text.sees(" exceed threshold:");
  if (!text.take("Saved bad pages")) return false;
  text.take_while([](char c) { return is_digit(c) || c == ' ' || c == '(' || c == ')'; });
  return text.sees("reaches threshold value");
}

std::optional<Event> parse_ras(std::string_view message) {
  Scanner text{message};
  if (is_over_threshold(text)) return labelled(Kind::kAmdRas, "bad_page_threshold");
  if (text.take("uncorrectable hardware error(")) {
    text.take_while(is_identifier);
    return text.take(") detected") ? std::optional(labelled(Kind::kAmdRas, "UE")) : std::nullopt;
  }
  if (message == "Accelerator Check Architecture events logged")
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
  if (!event) event = parse_lost(text.rest());
  if (event && pci) event->pci = pci;
  return event;
}

}  // namespace gpuward::xid
