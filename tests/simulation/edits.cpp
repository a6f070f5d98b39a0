#include "tests/simulation/edits.h"

#include <algorithm>
#include <vector>

#include "core/runtime/json.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kKey(kAnnotation);

// Returns the annotation with another value for `key`; null if gpuward did not write it.
Json with_value(const std::string& annotation, std::string_view key, Json value) {
  auto json = parse_json(annotation);
  if (!json || !json->is_object()) return nullptr;
  (*json)[std::string(key)] = std::move(value);
  return dump_json(*json);
}

}  // namespace

bool Edits::may_change(const std::string& node_uid, bool is_record) {
  return changed_.try_emplace(node_uid, is_record).first->second == is_record;
}

// The node was cordoned while it had the annotation, which was not changed.
bool Edits::knows_cordon_alone(const Remediation& remediation) const {
  const NodeTruth* const node = stage_.truth.node(remediation.node);
  return remediation.status.pre_existing_cordon.value_or(false) && node != nullptr && node->mark &&
         !node->mark->pre_existing_cordon;
}

void Edits::do_something() {
  for (const auto& [name, node] : stage_.truth.nodes()) {
    const auto found = node.node.meta.annotations.find(kKey);
    if (found != node.node.meta.annotations.end()) seen_[node.node.meta.uid] = found->second;
  }
  std::vector<std::string> nodes, open;
  for (const auto& [name, node] : stage_.truth.nodes()) {
    if (node.mark || node.is_tainted || seen_.contains(node.node.meta.uid)) nodes.push_back(name);
  }
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (remediation.open()) open.push_back(name);
  }
  const bool is_about_node = stage_.edits_chance.happens(0.6);
  if (is_about_node && !nodes.empty()) {
    edit_node(NodeTruth(*stage_.truth.node(stage_.edits_chance.pick(nodes))));
  } else if (!open.empty()) {
    edit_remediation(Remediation(*stage_.truth.remediation(stage_.edits_chance.pick(open))));
  }
}

void Edits::annotate(const std::string& node, const Json& value, const std::string& what) {
  stage_.trace.say("edit: " + what + " " + node);
  stage_.patch_node(node, {{"metadata", {{"annotations", {{kKey, value}}}}}});
}

void Edits::edit_node(const NodeTruth& node) {
  const std::string& name = node.node.meta.name;
  const std::string& uid = node.node.meta.uid;
  const std::size_t what = stage_.edits_chance.weighted({30, 10, 12, 12, 20});
  if (what == 3) {
    if (!node.is_tainted) return;
    stage_.note_edit(uid);
    const Json ours = {
        {"key", std::string(kTaintKey)}, {"value", "mine"}, {"effect", "NoSchedule"}};
    stage_.trace.say("edit: another taint " + name);
    return stage_.patch_node(name, {{"spec", {{"taints", Json::array({ours})}}}});
  }
  if (!may_change(uid, false)) return;
  stage_.note_edit(uid);
  if (what == 4) {
    const auto seen = seen_.find(uid);
    return seen == seen_.end() ? void() : annotate(name, seen->second, "restore the annotation");
  }
  if (!node.mark) return;
  const std::string& now = node.node.meta.annotations.at(kKey);
  if (what == 0) return annotate(name, nullptr, "no annotation");
  if (what == 1) return annotate(name, with_value(now, "name", "gpu-x-1"), "another name");
  annotate(name, with_value(now, "preExistingCordon", !node.mark->pre_existing_cordon),
           "another cordon");
}

// Takes a copy, because the truth changes during the call.
void Edits::delete_by_force(Remediation remediation) {
  stage_.note_edit(remediation.node_uid);
  stage_.trace.say("edit: delete by force " + remediation.name);
  stage_.delete_remediation(remediation.name, true);
}

void Edits::edit_remediation(const Remediation& remediation) {
  const std::string& name = remediation.name;
  const RemediationStatus& status = remediation.status;
  switch (stage_.edits_chance.weighted({30, 15, 25, 12, 8})) {
    case 0: {
      const std::string phase = stage_.edits_chance.one_of({"Released", "Cancelled", "Ended"});
      stage_.note_edit(remediation.node_uid);
      stage_.closed_by_hand.insert(name);
      stage_.trace.say("edit: " + name + " is " + phase);
      return stage_.patch_status(name, {{"phase", phase}});
    }
    case 1:
      stage_.trace.say("edit: delete " + name);
      return stage_.delete_remediation(name, false);
    case 2:
      return delete_by_force(remediation);
    case 3:
      if (!status.pre_existing_cordon || knows_cordon_alone(remediation) ||
          !may_change(remediation.node_uid, true))
        return;
      stage_.note_edit(remediation.node_uid);
      stage_.trace.say("edit: the cordon in the record of " + name);
      return stage_.patch_status(name, {{"preExistingCordon", !*status.pre_existing_cordon}});
    default:
      stage_.note_edit(remediation.node_uid);
      stage_.wiped[name] = ++stage_.tick;
      stage_.trace.say("edit: no steps in the record of " + name);
      return stage_.patch_status(name, {{"steps", Json::array()}});
  }
}

}  // namespace gpuward::remediator::simulation
