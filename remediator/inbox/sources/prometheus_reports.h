// Health reports read from Prometheus: what the exporter of a node measured, when, and in which
// boot. One query per report, and a second one if it names GPUs. A Prometheus that did not answer
// is not queried again for a while, so that nodes that wait to return never delay nodes that must
// be drained. Used before gpuward removes its taint or cordon from a node.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "remediator/inbox/sources/gpu_claims.h"
#include "remediator/inbox/sources/prometheus_query.h"
#include "remediator/model/health_report.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class PrometheusReports final : public HealthReports {
 public:
  // `url` is the base URL of Prometheus (`http://prometheus:9090`). The other arguments must
  // outlive this object.
  PrometheusReports(std::string url, http::Client& http, const CurrentPolicy& policy, Clock& clock,
                    std::chrono::milliseconds timeout = std::chrono::seconds(2));
  [[nodiscard]] Result<HealthReport> latest(std::string_view node) override;

 private:
  PrometheusQuery query_;
  const CurrentPolicy& policy_;
};

// Returns the PromQL for one node; `node` must have passed kube::validate_node_name. `cluster` is
// the policy's name of the cluster.
[[nodiscard]] std::string report_query(std::string_view node, std::string_view cluster = {});

// Decodes the answer of /api/v1/query to report_query(). If there are several samples, the worst
// severity, the weakest kernel evidence and the oldest measurement count.
[[nodiscard]] Result<HealthReport> decode_report(std::string_view body);

// Returns the PromQL for the nodes that have reported the `gpus`, and the times of these reports.
// Each GPU is a serial number or UUID.
[[nodiscard]] std::string claims_query(std::string_view node, std::span<const std::string> gpus,
                                       std::string_view cluster = {});
[[nodiscard]] Result<std::map<std::string, GpuClaims>> decode_claims(std::string_view body);

}  // namespace gpuward::remediator
