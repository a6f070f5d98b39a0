// Describes the remediator's sources in words: which link of the chain from a finding to its
// Remediation is broken, and which command helps. Pure. Used by status, doctor and the fleet page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/inbox/sources/connections.h"

namespace gpuward::remediator {

// kOff: not configured, and not needed. kUnknown: hidden by a link before it, or not read.
enum class LinkState : std::uint8_t { kWorks, kOff, kUnknown, kBroken };

[[nodiscard]] std::string_view to_string(LinkState state);

struct Link {
  std::string name;  // remediator, target, series, alert, route, webhook, record
  LinkState state = LinkState::kUnknown;
  std::string text;
  std::string next = {};  // a command or a page, if it is broken
};

// The facts of the newest replica; nullopt if no replica has written any.
struct ConnectionReading {
  std::string ns;  // the remediator's namespace
  WallTime now{};
  std::optional<Connections> facts = {};
};

// Fails with the error of the API server.
[[nodiscard]] Result<ConnectionReading> read_connections(kube::Api& api, const std::string& ns,
                                                         WallTime now);

// Returns each link in the order of the chain, for the whole fleet.
[[nodiscard]] std::vector<Link> fleet_links(const ConnectionReading& reading);
// Returns the same links for one node.
[[nodiscard]] std::vector<Link> node_links(const ConnectionReading& reading, std::string_view node);

// Returns null if no link is broken.
[[nodiscard]] const Link* first_broken(std::span<const Link> links);

// Returns the webhook, Prometheus and Alertmanager, each under its name with the first broken link
// of its part of the chain.
[[nodiscard]] std::vector<Link> sources(const ConnectionReading& reading);
// Returns one line; a broken source says NOT CONNECTED.
[[nodiscard]] std::string source_text(const Link& source);

}  // namespace gpuward::remediator
