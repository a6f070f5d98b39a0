#include "tests/unit/fakes/differential_steps.h"

namespace gpuward::fakes {
namespace {

std::string node(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + R"("}})";
}

}  // namespace

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

}  // namespace gpuward::fakes
