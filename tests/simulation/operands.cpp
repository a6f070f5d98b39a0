#include "tests/simulation/operands.h"

#include <algorithm>
#include <array>

#include "core/kube/gpu_operator_labels.h"
#include "core/runtime/json.h"
#include "remediator/model/gpu_operands.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr std::array<const char*, 3> kOperands = {"device-plugin", "dcgm-exporter", "dcgm"};
const std::string kOther = "paused-for-driver-upgrade";
const std::string kNamespace = "gpu-operator";
const std::string kOperatorPods = "/api/v1/namespaces/" + kNamespace + "/pods";

std::string value_of(const kube::Node& node, const std::string& operand) {
  const auto label = node.meta.labels.find(operand_label(operand));
  return label == node.meta.labels.end() ? "" : label->second;
}

Json labels(const std::string& operand, const std::string& value) {
  return {{"metadata", {{"labels", {{operand_label(operand), value}}}}}};
}

}  // namespace

void let_operands_run(Setting& setting, Chance& chance) {
  setting.has_operands = setting.has_jobs && !setting.has_pods && chance.happens(0.6);
}

void put_operands(Stage& stage, Json& labels) {
  if (!stage.setting.has_operands) return;
  for (const char* operand : kOperands)
    labels[operand_label(operand)] = stage.operands_chance.happens(0.85) ? "true" : "false";
}

void bend_operand_pods(const Stage& stage, Json& pods) {
  if (!stage.is_off(Sabotage::kOperandPods)) return;
  if (!pods.contains("items")) return;
  Json left = Json::array();
  for (const Json& pod : pods["items"]) {
    if (string_at(pod["metadata"], "namespace") != kNamespace) left.push_back(pod);
  }
  pods["items"] = std::move(left);
}

void check_operands(const Stage& stage, const std::string& node, const std::string& what) {
  const auto pods = stage.operand_pods.find(node);
  if (pods == stage.operand_pods.end()) return;
  for (const auto& [pod, since] : pods->second) {
    require(since > stage.looks.back()->node_read, "operands",
            what + " was made beside the pod " + pod + " of an operand");
  }
}

void check_operand_labels(const Stage& stage, const kube::Node& before, const kube::Node& after) {
  const std::string& name = after.meta.name;
  bool is_paused = false;
  kube::Labels same = before.meta.labels;
  for (const char* operand : kOperands) {
    const std::string was = value_of(before, operand), is = value_of(after, operand);
    if (was == is) continue;
    const bool pauses = was == "true" && is == kube::kPausedForReset;
    require(pauses || (was == kube::kPausedForReset && is == "true"), "operand-labels",
            operand_label(operand) + " of " + name + " was changed from " + was + " to " + is);
    is_paused = is_paused || pauses;
    same[operand_label(operand)] = is;
  }
  require(same == after.meta.labels, "operand-labels", "other labels of " + name + " were changed");
  require(before.unschedulable == after.unschedulable &&
              before.meta.annotations == after.meta.annotations &&
              before.taints.size() == after.taints.size(),
          "operand-labels", "more than labels of " + name + " was changed");
  const Look& look = *stage.looks.back();
  const bool is_for_reset = std::ranges::any_of(stage.truth.remediations(), [&](const auto& known) {
    const StepRecord* const reset = known.second.status.find(Step::kGpuReset);
    return known.second.node == name && reset != nullptr && reset->result == StepResult::kIntended;
  });
  // Operators edit and delete records, also between the permit and the patch.
  const bool may_be_edited = look.restores != stage.restores || stage.setting.has_edits;
  require(!is_paused || is_for_reset || may_be_edited, "operand-labels",
          "operands of " + name + " were paused for no reset");
}

void SimulatedOperands::follow(const kube::Node& node, const std::string& operand) {
  const std::string name = node.meta.name + "-" + operand;
  auto& pods = stage_.operand_pods[node.meta.name];
  const bool is_wanted = value_of(node, operand) == "true";
  if (is_wanted == pods.contains(name)) return;
  if (is_wanted) {
    Json pod = fakes::pod(name, node.meta.name);
    pod["metadata"]["namespace"] = kNamespace;
    pod["spec"]["nodeSelector"] = {{operand_label(operand), "true"}};
    stage_.kube.create(kOperatorPods, pod);
    pods[name] = ++stage_.tick;
  } else {
    stage_.kube.remove(kOperatorPods + "/" + name);
    pods.erase(name);
  }
}

// As k8s-driver-manager does: writes its own value over `true`, or appends it to another value.
void SimulatedOperands::pause_by_other(const kube::Node& node) {
  stage_.trace.say("another program pauses the operands of " + node.meta.name);
  for (const char* operand : kOperands) {
    const std::string value = value_of(node, operand);
    if (value.empty() || value == "false" || value.contains(kOther)) continue;
    stage_.patch_node(node.meta.name,
                      labels(operand, value == "true" ? kOther : value + "_" + kOther));
  }
}

void SimulatedOperands::resume_by_other(const kube::Node& node) {
  for (const char* operand : kOperands) {
    std::string value = value_of(node, operand);
    const auto at = value.find(kOther);
    if (at == std::string::npos) continue;
    stage_.patch_node(node.meta.name, labels(operand, at == 0 ? "true" : value.substr(0, at - 1)));
  }
}

void SimulatedOperands::do_something() {
  if (!stage_.setting.has_operands) return;
  Chance& chance = stage_.operands_chance;
  for (const Machine& machine : fleet_.machines()) {
    const NodeTruth* const known = stage_.truth.node(machine.name);
    if (known == nullptr) {
      for (const auto& [pod, since] : stage_.operand_pods[machine.name])
        stage_.kube.remove(kOperatorPods + "/" + pod);
      stage_.operand_pods[machine.name].clear();
      continue;
    }
    const kube::Node seen = known->node;
    if (machine.works() && chance.happens(0.3)) {
      for (const char* operand : kOperands) {
        if (chance.happens(0.6)) follow(seen, operand);
      }
    }
    const std::size_t what = chance.weighted({916, 2, 70, 12});
    if (what == 1) pause_by_other(seen);
    if (what == 2) resume_by_other(seen);
    if (what == 3 && value_of(seen, kOperands[0]) == kube::kPausedForReset) {
      stage_.trace.say("a human resumes an operand of " + machine.name);
      stage_.patch_node(machine.name, labels(kOperands[0], "true"));
    }
  }
}

void SimulatedOperands::end_all() {
  if (!stage_.setting.has_operands) return;
  for (const Machine& machine : fleet_.machines()) {
    const NodeTruth* known = stage_.truth.node(machine.name);
    if (known == nullptr || !machine.works()) continue;
    resume_by_other(kube::Node(known->node));
    const kube::Node seen = stage_.truth.node(machine.name)->node;
    for (const char* operand : kOperands) {
      if (stage_.operands_chance.happens(0.7)) follow(seen, operand);
    }
  }
}

bool SimulatedOperands::is_any_left() const {
  return std::ranges::any_of(fleet_.machines(), [&](const Machine& machine) {
    const NodeTruth* const known = stage_.truth.node(machine.name);
    return known != nullptr && !paused_operands(known->node).empty();
  });
}

void SimulatedOperands::check_rest() const {
  if (!stage_.setting.has_operands) return;
  for (const Machine& machine : fleet_.machines()) {
    const NodeTruth* const known = stage_.truth.node(machine.name);
    if (known == nullptr) continue;
    const Operands paused = paused_operands(known->node);
    require(paused.empty(), "operands-left",
            machine.name + " is at rest with paused operands: " + text_of(paused));
  }
}

}  // namespace gpuward::remediator::simulation
