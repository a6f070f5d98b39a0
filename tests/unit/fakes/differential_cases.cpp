#include "tests/unit/fakes/differential.h"

namespace gpuward::fakes {
namespace {

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kJsonPatchType = "application/json-patch+json";

Step get(std::string path, Compare compare = Compare::kAll) {
  return {"GET", std::move(path), "", "", compare};
}
Step post(std::string path, std::string body, Compare compare = Compare::kAll) {
  return {"POST", std::move(path), std::move(body), "application/json", compare};
}
Step put(std::string path, std::string body, Compare compare = Compare::kAll) {
  return {"PUT", std::move(path), std::move(body), "application/json", compare};
}
Step remove(std::string path, std::string body = "", Compare compare = Compare::kAll) {
  return {"DELETE", std::move(path), std::move(body), "application/json", compare};
}
Step patch(const char* type, std::string path, std::string body, Compare compare = Compare::kAll) {
  return {"PATCH", std::move(path), std::move(body), type, compare};
}

const std::string kNodes = "/api/v1/nodes";
const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kEvents = "/api/v1/namespaces/default/events";
const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kWidgets = "/apis/test.gpuward.dev/v1/widgets";

std::string node(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + R"("}})";
}

std::vector<Case> node_cases() {
  return {
      {"a node comes into being, once",
       {post(kNodes, node("d1")), get(kNodes + "/d1"), post(kNodes, node("d1")),
        get(kNodes + "/nobody"), post(kNodes, node("Bad_Name")), post(kNodes, node("")),
        post(kNodes, R"({"metadata":{"name":"d2"},"kind":"Pod","apiVersion":"v1"})",
             Compare::kCode),
        post(kNodes, R"({"metadata":{"name":"d2"},"kind":"Node","apiVersion":"v2"})",
             Compare::kCode),
        post(kNodes, R"({"metadata":{"name":"d3"}})"),
        post(kNodes,
             R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"d4","resourceVersion":"4"}})"),
        post(kNodes, "{", Compare::kCode), remove(kNodes + "/d3"), remove(kNodes + "/d3")}},
      {"generateName makes a name",
       {post(kNodes, R"({"apiVersion":"v1","kind":"Node","metadata":{"generateName":"gen-"}})",
             Compare::kCode)}},
      {"a merge-patch does label, annotation, cordon and taints at once",
       {post(kNodes, node("d5")),
        patch(
            kMerge, kNodes + "/d5",
            R"({"metadata":{"resourceVersion":"${rv:d5}","uid":"${uid:d5}","labels":{"a":"b"},"annotations":{"c/d":"e"}},
                  "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}})"),
        patch(kMerge, kNodes + "/d5", R"({"metadata":{"resourceVersion":"1","labels":{"a":"c"}}})"),
        patch(kMerge, kNodes + "/d5",
              R"({"metadata":{"uid":"11111111-2222-4333-a444-555555555555","labels":{"a":"c"}}})"),
        patch(kMerge, kNodes + "/d5", R"({"metadata":{"name":"other"}})"),
        patch(kMerge, kNodes + "/d5",
              R"({"metadata":{"labels":{"a":null}},"spec":{"unschedulable":null}})"),
        patch(kMerge, kNodes + "/d5", R"({"metadata":{"labels":{"bad key":"x"}}})"),
        patch(kMerge, kNodes + "/d5", R"({"metadata":{"labels":{"k":"bad value"}}})"),
        patch(kMerge, kNodes + "/d5", R"({"metadata":{"labels":{"k":5}}})", Compare::kCode),
        patch(kMerge, kNodes + "/d5", R"({"spec":{"unschedulable":"yes"}})", Compare::kCode),
        patch(kMerge, kNodes + "/d5", R"([])", Compare::kCode),
        patch(kMerge, kNodes + "/d5", R"({)", Compare::kCode),
        patch(kMerge, kNodes + "/nobody", R"({"metadata":{"labels":{"a":"c"}}})"),
        patch("application/json", kNodes + "/d5", R"({})", Compare::kCode)}},
      {"taints are one atomic list",
       {post(kNodes, node("d6")),
        patch(
            kStrategic, kNodes + "/d6",
            R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"b","value":"x","effect":"NoExecute"}]}})"),
        patch(kStrategic, kNodes + "/d6",
              R"({"spec":{"taints":[{"key":"c","effect":"NoSchedule"}]}})"),
        patch(
            kMerge, kNodes + "/d6",
            R"({"spec":{"taints":[{"key":"c","effect":"NoSchedule"},{"key":"c","value":"2","effect":"NoSchedule"}]}})"),
        patch(kMerge, kNodes + "/d6", R"({"spec":{"taints":[{"key":"c","effect":"Nonsense"}]}})"),
        patch(kMerge, kNodes + "/d6", R"({"spec":{"taints":[{"key":"c"}]}})"),
        patch(kMerge, kNodes + "/d6", R"({"spec":{"taints":[{"effect":"NoSchedule"}]}})"),
        patch(kMerge, kNodes + "/d6", R"({"spec":{"taints":null}})")}},
      {"JSON Patch tests and refuses",
       {post(kNodes, node("d7")),
        patch(
            kJsonPatchType, kNodes + "/d7",
            R"([{"op":"test","path":"/metadata/name","value":"d7"},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}])"),
        patch(kJsonPatchType, kNodes + "/d7",
              R"([{"op":"test","path":"/metadata/labels/a","value":"other"}])"),
        patch(kJsonPatchType, kNodes + "/d7",
              R"([{"op":"remove","path":"/metadata/labels/none"}])"),
        patch(kJsonPatchType, kNodes + "/d7", R"({"op":"test"})", Compare::kCode)}},
      {"conditions are merged by type, through the status alone",
       {post(kNodes, node("d8")),
        patch(
            kStrategic, kNodes + "/d8/status",
            R"({"status":{"conditions":[{"type":"GPUProblem","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"),
        patch(
            kStrategic, kNodes + "/d8/status",
            R"({"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","message":"m"}]}})"),
        patch(
            kStrategic, kNodes + "/d8/status",
            R"({"status":{"conditions":[{"type":"GPUProblem","status":"False"}]},"spec":{"unschedulable":true},"metadata":{"labels":{"via":"status"}}})"),
        patch(
            kStrategic, kNodes + "/d8",
            R"({"status":{"conditions":[{"type":"Other","status":"True"}]},"metadata":{"labels":{"via":"main"}}})"),
        patch(
            kStrategic, kNodes + "/d8/status",
            R"({"status":{"conditions":[{"type":"A","status":"True"},{"type":"Ready","status":"False"},{"type":"B","status":"True"}]}})"),
        patch(kStrategic, kNodes + "/d8",
              R"({"metadata":{"finalizers":["x.example/a","x.example/b"]}})"),
        patch(kStrategic, kNodes + "/d8",
              R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x.example/a"]}})"),
        patch(kStrategic, kNodes + "/d8", R"({"metadata":{"finalizers":null}})"),
        patch(kStrategic, kNodes + "/d8/status",
              R"({"status":{"conditions":[{"$patch":"delete","type":"GPUProblem"}]}})"),
        get(kNodes + "/d8/status")}},
      {"a PUT needs the newest version",
       {post(kNodes, node("d9")),
        put(kNodes + "/d9",
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"d9","labels":{"x":"y"}}})"),
        put(kNodes + "/d9",
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"d9","resourceVersion":"1"}})"),
        put(kNodes + "/d9", node("other")), put(kNodes + "/nobody", node("nobody")),
        put(kNodes + "/d9",
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"d9","uid":"11111111-2222-4333-a444-555555555555"}})",
            Compare::kCode)}},
      {"a dry run changes nothing",
       {post(kNodes + "?dryRun=All", node("d10")), get(kNodes + "/d10"), post(kNodes, node("d10")),
        patch(kMerge, kNodes + "/d10?dryRun=All", R"({"metadata":{"labels":{"a":"b"}}})"),
        get(kNodes + "/d10"), remove(kNodes + "/d10?dryRun=All", ""), get(kNodes + "/d10")}},
      {"a deletion has preconditions and finalizers",
       {post(kNodes, node("d11")),
        remove(kNodes + "/d11",
               R"({"preconditions":{"uid":"11111111-2222-4333-a444-555555555555"}})"),
        remove(kNodes + "/d11", R"({"preconditions":{"resourceVersion":"1"}})"),
        patch(kMerge, kNodes + "/d11", R"({"metadata":{"finalizers":["test.gpuward.dev/hold"]}})"),
        remove(kNodes + "/d11", R"({"preconditions":{"uid":"${uid:d11}"}})"), get(kNodes + "/d11"),
        patch(kMerge, kNodes + "/d11", R"({"metadata":{"finalizers":null}})"),
        get(kNodes + "/d11")}},
      {"unknown paths and methods",
       {get("/api/v1/nonsense", Compare::kCode),
        get("/apis/nobody.example/v1/things", Compare::kCode),
        put(kNodes, node("x"), Compare::kOutcome),
        post(kNodes + "/d1", node("d1"), Compare::kOutcome),
        get(kNodes + "/d1/nonsense", Compare::kOutcome),
        get("/api/v1/namespaces/default/nodes/d1", Compare::kOutcome),
        get(kNodes + "?labelSelector=a%3D%3D%3D", Compare::kCode),
        get(kNodes + "?fieldSelector=spec.providerID%3Dx", Compare::kCode)}},
  };
}

std::vector<Case> list_cases() {
  const auto map = [](const std::string& name, const std::string& labels) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
           R"(","labels":{)" + labels + "}}}";
  };
  const auto select = [](const std::string& query) { return get(kMaps + "?" + query); };
  return {
      {"lists are selected by labels and fields",
       {post(kMaps, map("s1", R"("t":"1","x":"a")")), post(kMaps, map("s2", R"("t":"1","x":"b")")),
        post(kMaps, map("s3", R"("t":"1")")), select("labelSelector=t%3D1"),
        select("labelSelector=t%3D%3D1%2Cx%21%3Da"), select("labelSelector=t%2Cx+in+%28a%2Cc%29"),
        select("labelSelector=t%2Cx+notin+%28a%2Cc%29"), select("labelSelector=t%2C%21x"),
        select("labelSelector=t%3D1&fieldSelector=metadata.name%3Ds2"),
        select("labelSelector=t%3D1&fieldSelector=metadata.name%21%3Ds2"),
        select("labelSelector=none"), select("labelSelector=t%3D1&resourceVersion=0"),
        get(kMaps + "?labelSelector=x+in+a", Compare::kCode),
        get(kMaps + "?fieldSelector=data.x%3Da", Compare::kOutcome),
        get(kMaps + "?continue=nonsense", Compare::kCode),
        get(kMaps + "?resourceVersion=nonsense", Compare::kCode), remove(kMaps + "/s1"),
        remove(kMaps + "/s2"), remove(kMaps + "/s3")}}};
}

std::vector<Case> other_cases() {
  const std::string lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l1")";
  const std::string spec =
      R"(},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})";
  return {
      {"a lease is guarded by its version",
       {get(kLeases + "/l1"), post(kLeases, lease + spec), post(kLeases, lease + spec),
        put(kLeases + "/l1", lease + R"(,"resourceVersion":"${rv:l1}")" + spec),
        put(kLeases + "/l1", lease + R"(,"resourceVersion":"1")" + spec),
        put(kLeases + "/l1", lease + spec),
        put(kLeases + "/l2",
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l2"}})"),
        post(
            kLeases,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l3"},"spec":{"leaseDurationSeconds":0}})"),
        post(
            kLeases,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l3"},"spec":{"leaseTransitions":-1}})"),
        post(
            kLeases,
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l3"},"spec":{"renewTime":"yesterday"}})",
            Compare::kCode),
        remove(kLeases + "/l1")}},
      {"configmaps and namespaces",
       {post(kMaps,
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m1"},"data":{"a":"b"}})"),
        patch(kMerge, kMaps + "/m1", R"({"data":{"a":null,"c":"d"}})"),
        patch(kMerge, kMaps + "/m1", R"({"metadata":{"namespace":"other"}})"),
        post("/api/v1/namespaces/none/configmaps",
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m1"}})"),
        post(
            kMaps,
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m2","namespace":"other"}})"),
        remove(kMaps + "/m1")}},
      {"nothing new in a namespace that ends",
       {post("/api/v1/namespaces",
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ending"}})",
             Compare::kCode),
        remove("/api/v1/namespaces/ending", "", Compare::kCode),
        post("/api/v1/namespaces/ending/configmaps",
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m1"}})")}},
      {"events about nodes live in default",
       {post(
            kEvents,
            R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e1"},"involvedObject":{"kind":"Node","name":"n","uid":"u"},"reason":"R","message":"m","type":"Warning"})"),
        post(
            "/api/v1/namespaces/kube-public/events",
            R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e2"},"involvedObject":{"kind":"Node","name":"n"}})"),
        get(kEvents + "?fieldSelector=involvedObject.name%3Dn,involvedObject.kind%3DNode",
            Compare::kCode),
        remove(kEvents + "/e1")}},
      {"a pod that no node has taken goes at once",
       {post(
            kPods,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p0"},"spec":{"containers":[{"name":"c","image":"i"}]}})",
            Compare::kCode),
        remove(kPods + "/p0", "", Compare::kCode), get(kPods + "/p0"),
        post(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p0"},"spec":{}})")}},
  };
}

std::vector<Case> eviction_cases() {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","labels":{"app":"a"}},
      "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}})";
  const std::string eviction =
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p1","namespace":"default"})";
  const std::string budget =
      R"(,"namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}})";
  const auto named = [&](const char* name) {
    return R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":")" +
           std::string(name) + "\"" + budget;
  };
  const Step running =
      patch(kStrategic, kPods + "/p1/status",
            R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
            Compare::kCode);
  const std::string wrong_uid =
      R"(,"deleteOptions":{"preconditions":{"uid":"11111111-2222-4333-a444-555555555555"}}})";
  return {
      {"budgets stand before eviction",
       {post(kPods, pod, Compare::kCode),
        running,
        post(kBudgets, named("b1"), Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        patch(
            kMerge, kBudgets + "/b1/status",
            R"({"status":{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1,"observedGeneration":1}})"),
        post(kPods + "/p1/eviction", eviction + "}"),
        post(kPods + "/p1/eviction", eviction + wrong_uid),
        post(kPods + "/other/eviction", eviction + "}"),
        post(kPods + "/p2/eviction",
             R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p2"}})"),
        post(kBudgets, named("b2"), Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        remove(kBudgets + "/b2"),
        patch(kMerge, kBudgets + "/b1/status", R"({"status":{"disruptionsAllowed":1}})",
              Compare::kAll),
        post(kPods + "/p1/eviction?dryRun=All", eviction + "}"),
        post(
            kPods + "/p1/eviction",
            eviction +
                R"(,"deleteOptions":{"preconditions":{"uid":"${uid:p1}"},"gracePeriodSeconds":7}})"),
        get(kPods + "/p1", Compare::kCode),
        post(kPods + "/p1/eviction", eviction + "}"),
        remove(kPods + "/p1", R"({"gracePeriodSeconds":60})", Compare::kCode),
        get(kPods + "/p1", Compare::kCode),
        remove(kPods + "/p1", R"({"gracePeriodSeconds":0})", Compare::kCode),
        get(kPods + "/p1"),
        remove(kBudgets + "/b1")}}};
}

std::vector<Case> custom_cases() {
  const std::string definition =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"widgets.test.gpuward.dev"},"spec":{"group":"test.gpuward.dev","scope":"Cluster",
      "names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
      "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
      "spec":{"type":"object","required":["node"],"properties":{"node":{"type":"string","minLength":1,"pattern":"^[a-z]"},
      "severity":{"type":"string","enum":["reset","reboot"]},"count":{"type":"integer","minimum":0,"maximum":9},
      "mode":{"type":"string","default":"observe"},"long":{"type":"string","maxLength":4},"steps":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"name":{"type":"string"}}}},
      "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"at":{"type":"string","format":"date-time"},
      "map":{"type":"object","additionalProperties":{"type":"string"}}}},
      "status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}}]}})";
  const auto widget = [](const std::string& name, const std::string& spec,
                         const std::string& rest = "") {
    return R"({"apiVersion":"test.gpuward.dev/v1","kind":"Widget","metadata":{"name":")" + name +
           R"("},"spec":)" + spec + rest + "}";
  };
  return {
      {"definitions themselves",
       {post(kDefinitions, definition, Compare::kCode),
        post(
            kDefinitions,
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wrong"},"spec":{"group":"g.example","scope":"Cluster","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true}]}})",
            Compare::kCode),
        {"AWAIT", kWidgets, "", "", Compare::kCode}}},
      {"custom resources have a schema and a status of their own",
       {post(
            kWidgets,
            widget(
                "w1",
                R"({"node":"n","junk":1,"free":{"x":{"y":1}},"map":{"k":"v"},"steps":[{"name":"s","junk":2}]})",
                R"(,"status":{"phase":"Open"},"junk":true)")),
        get(kWidgets + "/w1"),
        get(kWidgets),
        post(kWidgets, widget("w2", "{}")),
        post(kWidgets, widget("w2", R"({"node":""})")),
        post(kWidgets, widget("w2", R"({"node":5})")),
        post(kWidgets, widget("w2", R"({"node":"9"})")),
        post(kWidgets, widget("w2", R"({"node":"n","severity":"bad"})")),
        post(kWidgets, widget("w2", R"({"node":"n","count":10})")),
        post(kWidgets, widget("w2", R"({"node":"n","count":-1})")),
        post(kWidgets, widget("w2", R"({"node":"n","count":1.5})")),
        post(kWidgets, widget("w2", R"({"node":"n","steps":[{},{},{}]})")),
        post(kWidgets, widget("w2", R"({"node":"n","steps":{}})")),
        post(kWidgets, widget("w2", R"({"node":"n","at":"now"})")),
        post(kWidgets, widget("w2", R"({"node":"n","map":{"k":1}})")),
        post(kWidgets, widget("w2", R"({"severity":"bad"})")),
        post(kWidgets,
             R"({"apiVersion":"test.gpuward.dev/v1","kind":"Widget","metadata":{"name":"w2"}})"),
        post(kWidgets, R"({"metadata":{"name":"w2"},"spec":{"node":"n"}})", Compare::kCode),
        post(kWidgets,
             R"({"apiVersion":"test.gpuward.dev/v1","kind":"Other","metadata":{"name":"w2"}})"),
        post(
            kWidgets,
            R"({"apiVersion":"test.gpuward.dev/v2","kind":"Widget","metadata":{"name":"w2"},"spec":{"node":"n"}})",
            Compare::kCode),
        post(kWidgets, widget("w2", R"({"node":"n","long":"12345"})")),
        post(kWidgets, widget("w1", R"({"node":"n"})")),
        post(kWidgets, widget("Bad_Name", R"({"node":"n"})"))}},
      {"spec and status of a custom resource are apart",
       {post(kWidgets, widget("w3", R"({"node":"n"})")),
        patch(
            kMerge, kWidgets + "/w3/status",
            R"({"metadata":{"resourceVersion":"${rv:w3}","labels":{"a":"b"}},"spec":{"node":"m"},"status":{"phase":"Open","junk":1}})"),
        patch(kMerge, kWidgets + "/w3",
              R"({"metadata":{"labels":{"a":"b"}},"status":{"phase":"Closed"}})"),
        patch(kMerge, kWidgets + "/w3", R"({"spec":{"node":"m"}})"),
        patch(kMerge, kWidgets + "/w3", R"({"spec":{"node":"m"}})"),
        patch(kMerge, kWidgets + "/w3",
              R"({"metadata":{"resourceVersion":"1"},"spec":{"node":"o"}})"),
        patch(kMerge, kWidgets + "/w3/status",
              R"({"metadata":{"resourceVersion":"1"},"status":{"phase":"o"}})"),
        patch(kMerge, kWidgets + "/w3",
              R"({"metadata":{"uid":"11111111-2222-4333-a444-555555555555"}})"),
        patch(kMerge, kWidgets + "/w3", R"({"spec":{"node":null}})"),
        patch(kMerge, kWidgets + "/w3", R"({"spec":{"severity":"bad"}})"),
        patch(kMerge, kWidgets + "/w3/status", R"({"status":{"phase":5}})", Compare::kCode),
        patch(kMerge, kWidgets + "/w3", R"({"metadata":{"labels":{"k":5}}})", Compare::kCode),
        patch(kMerge, kWidgets + "/w3", R"({"metadata":{"annotations":{"k":null}}})"),
        patch(kMerge, kWidgets + "/w3", R"({"metadata":{"finalizers":["test.gpuward.dev/hold"]}})"),
        patch(kMerge, kWidgets + "/w3", R"({"metadata":{"finalizers":[]}})"),
        patch(kMerge, kWidgets + "/w3", R"({"apiVersion":"other.example/v1"})", Compare::kCode),
        patch(kMerge, kWidgets + "/w3", R"({"kind":"Other"})", Compare::kCode),
        patch(kStrategic, kWidgets + "/w3", R"({"spec":{"node":"m"}})", Compare::kCode),
        patch(kJsonPatchType, kWidgets + "/w3",
              R"([{"op":"replace","path":"/spec/node","value":"j"}])"),
        put(kWidgets + "/w3", widget("w3", R"({"node":"n"})")),
        put(kWidgets + "/none", widget("none", R"({"node":"n"})")),
        put(kWidgets + "/w3",
            R"({"apiVersion":"test.gpuward.dev/v1","kind":"Widget","metadata":{"name":"w3","resourceVersion":"${rv:w3}"},"spec":{"node":"put"}})"),
        get(kWidgets + "/w3/status"),
        remove(kWidgets + "/w3",
               R"({"preconditions":{"uid":"11111111-2222-4333-a444-555555555555"}})"),
        remove(kWidgets + "/w3", R"({"preconditions":{"uid":"${uid:w3}"}})"),
        get(kWidgets + "/w3")}},
  };
}

}  // namespace

const std::vector<Case>& differential_cases() {
  static const std::vector<Case> kCases = [] {
    std::vector<Case> all;
    for (auto& group :
         {node_cases(), list_cases(), other_cases(), eviction_cases(), custom_cases()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kCases;
}

}  // namespace gpuward::fakes
