#include "core/xid/parser.h"

#include "core/xid/amdgpu.h"
#include "core/xid/host.h"
#include "core/xid/nvrm.h"
#include "core/xid/nvswitch.h"

namespace gpuward::xid {
namespace {

// `nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further
// processing`
std::optional<Event> parse_peermem(std::string_view message) {
  if (!message.contains("invalid context")) return std::nullopt;
  Event event;
  event.kind = Kind::kPeermem;
  event.label = "invalid_context";
  return event;
}

}  // namespace

std::optional<Event> parse_record(std::string_view record) {
  const auto message = strip_prefixes(record);
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

}  // namespace gpuward::xid
