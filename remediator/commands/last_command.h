// Who has asked what of a Remediation by gpuwardctl, and when: an annotation, for people alone. It
// is told, not proven: whoever may patch a Remediation can write another, so nothing is decided on
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"
#include "remediator/model/remediation.h"
#include "remediator/records/remediation_store.h"

namespace gpuward::remediator {

struct LastCommand {
  std::string command;  // "pause"
  std::string by;
  WallTime at;

  friend bool operator==(const LastCommand&, const LastCommand&) = default;
};

// The value of the annotation: "2026-01-01T00:00:00Z pause by alice".
[[nodiscard]] std::string to_annotation(const LastCommand& last);
// Nullopt where it is not of that form.
[[nodiscard]] std::optional<LastCommand> parse_last_command(std::string_view annotation);

// The name that the API server sees us under; where it does not say, that of the kubeconfig's
// context.
[[nodiscard]] std::string caller_of(const CommandFlags& flags, kube::Api& api);

// Writes `wishes` to the Remediation, with the annotation that names `caller` and the command.
[[nodiscard]] Status ask_as(const std::string& caller, const std::string& command, kube::Api& api,
                            Clock& clock, const Remediation& remediation,
                            RemediationStore::Wishes wishes);

// "paused by alice 5m ago" while it is asked to pause or to cancel; empty where it is not, or where
// nobody has told who did it.
[[nodiscard]] std::string who_asked(const Remediation& remediation, WallTime now);

}  // namespace gpuward::remediator
