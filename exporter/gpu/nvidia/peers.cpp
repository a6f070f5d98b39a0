#include "exporter/gpu/nvidia/peers.h"

#include <map>
#include <utility>

namespace gpuward::exporter::nvml {
namespace {

Maybe<std::uint32_t> status_of(const Symbols& nvml, Device from, Device to, I32 what) {
  I32 status = 0;
  if (nvml.peer_status(from, to, what, &status) != kSuccess || status < 0) return std::nullopt;
  return static_cast<std::uint32_t>(status);
}

Maybe<std::uint32_t> ancestor_of(const Symbols& nvml, Device from, Device to) {
  I32 level = 0;
  if (nvml.common_ancestor(from, to, &level) != kSuccess || level < 0) return std::nullopt;
  return static_cast<std::uint32_t>(level);
}

using Ancestors = std::map<std::pair<std::uint32_t, std::uint32_t>, Maybe<std::uint32_t>>;

// The same both ways: asked once.
Maybe<std::uint32_t> ancestor_once(const Symbols& nvml, const AskableDevice& from,
                                   const AskableDevice& to, Ancestors& known) {
  const auto pair = std::minmax(from.index, to.index);
  const auto found = known.find(pair);
  if (found != known.end()) return found->second;
  return known[pair] = ancestor_of(nvml, from.device, to.device);
}

}  // namespace

std::vector<PeerStatus> read_peers(const Session& session, std::span<const AskableDevice> devices,
                                   const Progress& progress) {
  const Symbols& nvml = session.symbols();
  std::vector<PeerStatus> peers;
  Ancestors ancestors;
  for (const AskableDevice& from : devices) {
    progress("peers, from " + from.pci_bus_id);  // a hang there may be any GPU's
    for (const AskableDevice& to : devices) {
      if (from.index == to.index) continue;
      PeerStatus peer;
      peer.from = from.index;
      peer.to = to.index;
      peer.read_status = status_of(nvml, from.device, to.device, kPeerRead);
      peer.write_status = status_of(nvml, from.device, to.device, kPeerWrite);
      peer.nvlink_status = status_of(nvml, from.device, to.device, kPeerNvlink);
      peer.topology = ancestor_once(nvml, from, to, ancestors);
      peers.push_back(peer);
    }
  }
  return peers;
}

}  // namespace gpuward::exporter::nvml
