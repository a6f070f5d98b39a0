#include "tests/simulation/pods.h"

#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kWorkload = "/api/v1/namespaces/default/pods";

// A few pods have no controller that would make them again: a drain fails for them.
constexpr double kUnmanaged = 0.02;
// Controllers do not know gpuward's taint, but schedulers respect cordons; a DaemonSet's pods come
// all the same.
constexpr double kStartsOnCordoned = 0.3;

Json owned_by_set(const std::string& name) {
  return Json::array({{{"apiVersion", "apps/v1"},
                       {"kind", "StatefulSet"},
                       {"name", name},
                       {"uid", name + "-set"},
                       {"controller", true}}});
}

}  // namespace

Pods::Pods(Stage& stage) : stage_(stage), holds_(stage), ends_(stage), newcomers_(stage) {
  if (!stage_.setting.has_pods) return;
  for (int i = 0; i < 2 * stage_.setting.nodes; ++i) names_.push_back("work-" + std::to_string(i));
  holds_.draw(names_);
  ends_.draw(names_);
  newcomers_.draw(names_);
  for (const std::string& name : names_) start(name);
}

// Binds it to one of the present nodes, unless `node_name` names one.
void Pods::start(const std::string& name, std::string node_name) {
  Chance& chance = stage_.pods_chance;
  std::vector<const kube::Node*> nodes;
  for (const auto& [node, known] : stage_.truth.nodes()) nodes.push_back(&known.node);
  if (nodes.empty()) return;
  const kube::Node* bound = chance.pick(nodes);
  if (node_name.empty()) node_name = newcomers_.node_for(name);
  if (!node_name.empty()) {
    bound = &stage_.truth.node(node_name)->node;
  } else if (bound->unschedulable && !chance.happens(kStartsOnCordoned)) {
    return;
  }
  const kube::Node& node = *bound;
  Json pod = fakes::pod(name, node.meta.name);
  const bool is_unmanaged = chance.happens(kUnmanaged);
  if (!is_unmanaged) pod["metadata"]["ownerReferences"] = owned_by_set(name);
  pod = newcomers_.dressed(name, ends_.dressed(name, holds_.dressed(name, std::move(pod))));
  const Json made = stage_.kube.create(kWorkload, pod);
  // Budgets protect running pods.
  if (stage_.setting.has_held_pods)
    stage_.kube.patch_status(kWorkload + "/" + name, fakes::running_status());
  stage_.pods.bind(name, {.uid = string_at(made["metadata"], "uid"),
                          .node = node.meta.name,
                          .node_uids = {node.meta.uid},
                          .since = ++stage_.tick,
                          .came = stage_.clock.steady(),
                          .is_unmanaged = is_unmanaged});
  ends_.note_start(name);
  newcomers_.note_start(name, node.meta.name);
  stage_.trace.say(name + " starts on " + node.meta.name);
}

// Such a pod names the node itself: no scheduler checks whether the node is cordoned.
void Pods::come_to_drained_node() {
  const std::string node = newcomers_.drained_node();
  if (node.empty()) return;
  const std::string& name = stage_.newcomers_chance.pick(names_);
  const PodTruth* const pod = stage_.pods.find(name);
  if (pod != nullptr && pod->node == node) return;
  if (pod != nullptr) end(name);
  if (stage_.pods.find(name) == nullptr) start(name, node);
}

void Pods::end(const std::string& name) {
  ends_.let_go(name);
  if (stage_.kube.has(kWorkload + "/" + name)) stage_.kube.remove(kWorkload + "/" + name);
  stage_.pods.end(name);
  ++stage_.tick;
  stage_.trace.say(name + " is gone");
  if (newcomers_.comes_back(name)) start(name);
}

void Pods::end_where(bool only_one, const auto& must_end) {
  std::vector<std::string> ending;
  for (const auto& [name, pod] : stage_.pods.all()) {
    if (must_end(pod)) ending.push_back(name);
  }
  if (only_one && !ending.empty()) ending = {stage_.pods_chance.pick(ending)};
  for (const std::string& name : ending) end(name);
}

void Pods::go_on() {
  if (!stage_.setting.has_pods) return;
  holds_.go_on();
  ends_.go_on();
  come_to_drained_node();
  Chance& chance = stage_.pods_chance;
  switch (chance.weighted({50, 25, 10, 20, 30})) {
    case 0:
      return;
    case 1:  // its kubelet ends it
      return end_where(true, [](const PodTruth& pod) { return pod.is_ending && !pod.stays; });
    case 2:  // the collector of orphans ends it
      return end_where(true,
                       [&](const PodTruth& pod) { return stage_.truth.node(pod.node) == nullptr; });
    case 3: {  // its controller moves it
      const std::string& name = chance.pick(names_);
      const PodTruth* const pod = stage_.pods.find(name);
      const NodeTruth* const node = pod == nullptr ? nullptr : stage_.truth.node(pod->node);
      if (node == nullptr || !node->node.unschedulable) return;
      end(name);
      if (stage_.pods.find(name) == nullptr) start(name);
      return;
    }
    default: {
      const std::string& name = chance.pick(names_);
      if (stage_.pods.find(name) == nullptr) start(name);
    }
  }
}

bool Pods::move_one() {
  std::vector<std::string> there;
  for (const auto& [name, pod] : stage_.pods.all()) {
    const NodeTruth* const node = stage_.truth.node(pod.node);
    if (node != nullptr && node->node.unschedulable && !pod.stays && !pod.is_unmanaged)
      there.push_back(name);
  }
  if (there.empty()) return false;
  const std::string name = stage_.races_chance.pick(there);
  end(name);
  if (stage_.pods.find(name) == nullptr) start(name);
  return true;
}

void Pods::end_all() {
  if (!stage_.setting.has_pods) return;
  end_where(false, [&](const PodTruth& pod) {
    return (pod.is_ending && !pod.stays) || stage_.truth.node(pod.node) == nullptr;
  });
  come_to_drained_node();
}

}  // namespace gpuward::remediator::simulation
