// The last gpuwardctl command for a Remediation, its user and its time: an annotation, only for
// people. It is a claim without proof, because any user who may patch a Remediation can write it,
// so no decision depends on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct LastCommand {
  std::string command;  // "pause"
  std::string by;
  WallTime at;

  friend bool operator==(const LastCommand&, const LastCommand&) = default;
};

// Returns the value of the annotation: "2026-01-01T00:00:00Z pause by alice".
[[nodiscard]] std::string to_annotation(const LastCommand& last);
// Returns nullopt for any other format.
[[nodiscard]] std::optional<LastCommand> parse_last_command(std::string_view annotation);

// Returns the user's name by the API server; if it does not report one, `context_user` of the
// kubeconfig.
[[nodiscard]] std::string caller_of(const std::string& context_user, kube::Api& api);

// Writes `wishes` to the Remediation, with the annotation that names `caller` and the command.
[[nodiscard]] Status ask_as(const std::string& caller, const std::string& command, kube::Api& api,
                            Clock& clock, const Remediation& remediation,
                            RemediationStore::Wishes wishes);

// Returns "paused by alice 5m ago" while a pause or a cancellation is requested; empty if there is
// none, or if its annotation does not name a user.
[[nodiscard]] std::string who_asked(const Remediation& remediation, WallTime now);

}  // namespace gpuward::remediator
