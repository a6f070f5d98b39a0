#include "tests/simulation/forger.h"

#include <algorithm>
#include <vector>

#include "remediator/cluster/remediation_json.h"

namespace gpuward::remediator::simulation {

void Forger::do_something() {
  if (guards_) {
    if (!chance_.happens(0.02)) return;
    guards_ = false;
    return stage_.trace.say("approvals are not guarded");
  }
  if (chance_.happens(0.5)) return forge_one();
  const bool any = std::ranges::any_of(
      forged_, [&](const auto& forged) { return stands(forged.first, forged.second); });
  if (any || !chance_.happens(0.3)) return;
  guards_ = true;
  forged_.clear();
  stage_.trace.say("approvals are guarded again");
}

void Forger::forge_one() {
  std::vector<std::string> asking;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (remediation.open() && remediation.status.approval) asking.push_back(name);
  }
  if (asking.empty()) return;
  const std::string name = chance_.pick(asking);
  const std::string token = stage_.truth.remediation(name)->status.approval->token;
  forged_[name] = token;
  stage_.annotate_remediation(name, {{std::string(kApproveAnnotation), token},
                                     {std::string(kApprovedByAnnotation), "alice"}});
  stage_.trace.say("forger: approve " + name + " " + token + " as alice");
}

bool Forger::stands(const std::string& remediation, const std::string& token) const {
  const auto& known = stage_.truth.remediations();
  const auto found = known.find(remediation);
  return found != known.end() && found->second.open() && found->second.status.approval &&
         found->second.status.approval->token == token;
}

void Forger::stop() {
  guards_ = true;
  for (const auto& [name, token] : forged_) {
    if (!stands(name, token)) continue;
    stage_.annotate_remediation(name, {{std::string(kApproveAnnotation), nullptr},
                                       {std::string(kApprovedByAnnotation), nullptr}});
  }
  forged_.clear();
}

Status Forger::check(std::chrono::milliseconds) {
  if (stage_.is_off(Sabotage::kGuard)) return {};
  if (!stage_.is_quiet && chance_.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "nobody answers");
  if (guards_) return {};
  return fail(ErrorKind::kRefused, "approvals are not guarded");
}

}  // namespace gpuward::remediator::simulation
