#include "tests/simulation/pod_ends.h"

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kPodPath = "/api/v1/namespaces/default/pods/";

}  // namespace

void let_pods_stay(Setting& setting, Chance& chance) {
  setting.has_staying_pods = setting.has_pods && chance.happens(0.4);
}

void PodEnds::draw(const std::vector<std::string>& names) {
  if (!stage_.setting.has_staying_pods) return;
  for (const std::string& name : names) {
    PodKind kind = stage_.pods.kind_of(name);
    kind.end = static_cast<PodEnd>(stage_.ends_chance.weighted({75, 8, 3, 8, 6}));
    stage_.pods.note_kind(name, kind);
  }
}

Json PodEnds::dressed(const std::string& name, Json pod) const {
  const PodEnd end = stage_.pods.kind_of(name).end;
  if (end == PodEnd::kFinalizer) pod["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  // It makes no difference whether the DaemonSet still exists.
  if (end == PodEnd::kDaemon)
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                       {"kind", "DaemonSet"},
                                                       {"name", "agent"},
                                                       {"uid", "agent-uid"},
                                                       {"controller", true}}});
  return pod;
}

void PodEnds::note_start(const std::string& name) {
  const PodEnd end = stage_.pods.kind_of(name).end;
  if (end == PodEnd::kFinalizer || end == PodEnd::kStuck) stage_.pods.let_stay(name, true);
}

void PodEnds::let_go(const std::string& name) {
  if (stage_.pods.kind_of(name).end == PodEnd::kFinalizer && stage_.kube.has(kPodPath + name))
    stage_.kube.patch(kPodPath + name, {{"metadata", {{"finalizers", nullptr}}}});
}

// Removes the finalizers of one pod, perhaps; its kubelet ends it then.
void PodEnds::go_on() {
  if (!stage_.setting.has_staying_pods || !stage_.ends_chance.happens(0.05)) return;
  for (const auto& [name, pod] : stage_.pods.all()) {
    const bool is_held = pod.stays && stage_.pods.kind_of(name).end == PodEnd::kFinalizer;
    if (!is_held || !stage_.ends_chance.happens(0.3)) continue;
    stage_.trace.say(name + " is let go");
    return stage_.pods.let_stay(name, false);
  }
}

std::optional<http::ClientResponse> refused_by_webhook(const Stage& stage,
                                                       const http::ClientRequest& request) {
  if (!request.url.ends_with("/eviction") ||
      stage.pods.kind_of(pod_in(request.url)).end != PodEnd::kRefused)
    return std::nullopt;
  http::ClientResponse answer;
  answer.status = 403;
  answer.body =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,)"
      R"("message":"admission webhook \"keep.example.com\" denied the request: it stays"})";
  return answer;
}

void bend_pod_ends(const Stage& stage, Json& list) {
  if (!member_at(list, "items").is_array()) return;
  for (Json& pod : list["items"]) {
    if (stage.is_off(Sabotage::kTerminating)) {
      pod["metadata"].erase("deletionTimestamp");
      pod["metadata"].erase("deletionGracePeriodSeconds");
    }
    if (!stage.is_off(Sabotage::kDaemonSets) || !pod["metadata"].contains("ownerReferences"))
      continue;
    for (Json& owner : pod["metadata"]["ownerReferences"]) {
      if (string_at(owner, "kind") == "DaemonSet") owner["kind"] = "StatefulSet";
    }
  }
}

}  // namespace gpuward::remediator::simulation
