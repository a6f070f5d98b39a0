#include "remediator/config/policy_reload.h"

#include <string>
#include <utility>

#include "remediator/config/load_policy.h"
#include "remediator/policy/policy_remarks.h"

namespace gpuward::remediator {
namespace {

void log_policy(const Policy& policy, Log& log) {
  log.info("Policy in force", {{"mode", std::string(to_string(policy.mode))}});
  for (const std::string& remark : remarks_on(policy))
    log.warn("Policy needs attention", {{"note", remark}});
}

}  // namespace

PolicyReload::PolicyReload(const Flags& flags, std::optional<FileWatch> watch, PolicyUsers users)
    : flags_(flags),
      users_(std::move(users)),
      watch_(std::move(watch)),
      last_good_at_(users_.clock.wall()) {}

Status PolicyReload::adopt_first() {
  const auto policy = users_.policy.get();
  if (auto leaving = adopt(*policy); !leaving) return std::unexpected(leaving.error());
  log_policy(*policy, users_.log);
  return {};
}

// Applies the parts of a policy that have their own files and threads.
Result<Notifier::Leaving> PolicyReload::adopt(const Policy& policy) {
  auto triage = users_.triage.prepare(policy.triage);
  if (!triage) return std::unexpected(triage.error());
  auto leaving = users_.notifier.set_sinks(policy.notifications.sinks);
  if (leaving) users_.triage.take_over(*std::move(triage));
  return leaving;
}

void PolicyReload::reload_if_changed() {
  if (watch_ && watch_->changed()) reload();
}

void PolicyReload::reload() {
  auto policy = load_policy(flags_);
  if (!policy) {
    users_.log.error("The new policy is invalid, keeping the previous one",
                     {{"error", policy.error().message}});
    last_good_ = false;
    return;
  }
  auto leaving = adopt(*policy);
  if (!leaving) {
    users_.log.error("Policy reload failed, keeping the previous policy",
                     {{"error", leaving.error().message}});
    last_good_ = false;
    return;
  }
  log_policy(*policy, users_.log);
  users_.evictor.set_rate(policy->evictions);
  users_.policy.set(std::move(*policy));
  last_good_ = true;
  last_good_at_ = users_.clock.wall();
  users_.on_new();
  // Done last, because a sink may be in a call that takes seconds to end.
  leaving->clear();
}

}  // namespace gpuward::remediator
