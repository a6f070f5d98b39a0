#include "tests/unit/fakes/differential_steps.h"

namespace gpuward::fakes {

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
        post(kWidgets, widget("w2", R"({"node":"n","count":9.5})")),
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

}  // namespace gpuward::fakes
