#include "remediator/tell/texts/last_command.h"

#include <utility>

#include "remediator/cluster/remediation_json.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kBy = " by ";

}  // namespace

std::string to_annotation(const LastCommand& last) {
  return to_rfc3339(last.at) + " " + last.command + std::string(kBy) + last.by;
}

std::optional<LastCommand> parse_last_command(std::string_view annotation) {
  const auto blank = annotation.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto at = parse_rfc3339(annotation.substr(0, blank));
  const std::string_view rest = annotation.substr(blank + 1);
  const auto by = rest.find(kBy);
  if (!at || by == std::string_view::npos) return std::nullopt;
  return LastCommand{.command = std::string(rest.substr(0, by)),
                     .by = std::string(rest.substr(by + kBy.size())),
                     .at = *at};
}

std::string caller_of(const std::string& context_user, kube::Api& api) {
  if (auto name = api.who_am_i()) return *std::move(name);
  return context_user.empty() ? "somebody" : context_user;
}

Status ask_as(const std::string& caller, const std::string& command, kube::Api& api, Clock& clock,
              const Remediation& remediation, RemediationStore::Wishes wishes) {
  wishes[kLastCommandAnnotation] =
      to_annotation({.command = command, .by = caller, .at = clock.wall()});
  auto written = RemediationStore(api).annotate(remediation, wishes);
  if (written || written.error().kind != ErrorKind::kForbidden) return written;
  return fail(ErrorKind::kForbidden,
              written.error().message +
                  "; use your own kubeconfig: gpuward's service account, which `kubectl exec` into "
                  "its pod uses, cannot do this for you");
}

std::string who_asked(const Remediation& remediation, WallTime now) {
  const OperatorRequest& wish = remediation.wish;
  const auto last = parse_last_command(wish.last_command);
  if (!last) return {};
  const std::string when = " by " + last->by + " " + age_text(last->at, now) + " ago";
  if (wish.cancel && last->command == "cancel") return "cancelled" + when;
  if (!wish.cancel && wish.pause && last->command == "pause") return "paused" + when;
  return {};
}

}  // namespace gpuward::remediator
