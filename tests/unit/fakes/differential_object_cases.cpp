#include "tests/unit/fakes/differential_steps.h"

namespace gpuward::fakes {

std::vector<Case> object_cases() {
  const std::string lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l1")";
  const std::string spec =
      R"(},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})";
  const std::string map = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m3")";
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
      {"a configmap is guarded by its version and bounded",
       {post(kMaps, map + R"(},"data":{"a":"b"}})"), post(kMaps, map + R"(},"data":{"a":"b"}})"),
        put(kMaps + "/m3", map + R"(,"resourceVersion":"${rv:m3}"},"data":{"a":"c"}})"),
        put(kMaps + "/m3", map + R"(,"resourceVersion":"1"},"data":{"a":"d"}})"),
        put(kMaps + "/m3", map + R"(},"data":{"a":7}})", Compare::kCode),
        put(kMaps + "/m3",
            map + R"(},"data":{"a":")" + std::string((1U << 20U) + 1, 'x') + R"("}})"),
        put(kMaps + "/m4", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m4"}})"),
        get(kMaps + "/m3"), remove(kMaps + "/m3")}},
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

}  // namespace gpuward::fakes
