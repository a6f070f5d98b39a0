// The fleet page and the pages behind it, which every replica serves from its own view, on the
// telemetry listener. Read only. The values that need the API server are read at most every two
// seconds, for any number of visitors.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/http/server/server.h"
#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/policy/current_policy.h"
#include "remediator/tell/web/fleet_overview.h"

namespace gpuward::remediator {

// Thread-safe.
class Site {
 public:
  // The arguments must outlive this object. `api` has deadlines: a page waits for four requests at
  // most. `ns`: the remediator's namespace.
  Site(const ClusterView& view, const CurrentPolicy& policy, kube::Api& api, std::string ns,
       Clock& clock)
      : view_(view), policy_(policy), api_(api), ns_(std::move(ns)), clock_(clock) {}

  // Returns "/", /nodes/NAME, /remediations/NAME, /policy, page.css and page.js. They refer to this
  // object.
  [[nodiscard]] std::vector<http::Route> routes();

 private:
  [[nodiscard]] std::shared_ptr<const OverviewReadings> readings();
  [[nodiscard]] http::Response show_fleet(const http::Request& request);
  [[nodiscard]] http::Response show_node(const http::Request& request);
  [[nodiscard]] http::Response show_remediation(const http::Request& request);
  [[nodiscard]] http::Response show_policy(const http::Request& request);
  // Adds the name of the cluster, if the policy has one: "Fleet in prod".
  [[nodiscard]] std::string in_cluster(const std::string& what) const;

  const ClusterView& view_;
  const CurrentPolicy& policy_;
  kube::Api& api_;
  const std::string ns_;
  Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const OverviewReadings> readings_;
  Clock::Steady read_at_{};
};

}  // namespace gpuward::remediator
