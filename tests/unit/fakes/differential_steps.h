// The helpers with which the differential cases are written.
#pragma once

#include <string>
#include <utility>

#include "tests/unit/fakes/differential.h"

namespace gpuward::fakes {

inline constexpr const char* kMerge = "application/merge-patch+json";
inline constexpr const char* kStrategic = "application/strategic-merge-patch+json";
inline constexpr const char* kJsonPatchType = "application/json-patch+json";

inline Step get(std::string path, Compare compare = Compare::kAll) {
  return {"GET", std::move(path), "", "", compare};
}
inline Step post(std::string path, std::string body, Compare compare = Compare::kAll) {
  return {"POST", std::move(path), std::move(body), "application/json", compare};
}
inline Step put(std::string path, std::string body, Compare compare = Compare::kAll) {
  return {"PUT", std::move(path), std::move(body), "application/json", compare};
}
inline Step remove(std::string path, std::string body = "", Compare compare = Compare::kAll) {
  return {"DELETE", std::move(path), std::move(body), "application/json", compare};
}
inline Step patch(const char* type, std::string path, std::string body,
                  Compare compare = Compare::kAll) {
  return {"PATCH", std::move(path), std::move(body), type, compare};
}

inline const std::string kNodes = "/api/v1/nodes";
inline const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
inline const std::string kPods = "/api/v1/namespaces/default/pods";
inline const std::string kMaps = "/api/v1/namespaces/default/configmaps";
inline const std::string kEvents = "/api/v1/namespaces/default/events";
inline const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
inline const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
inline const std::string kWidgets = "/apis/test.gpuward.dev/v1/widgets";

}  // namespace gpuward::fakes
