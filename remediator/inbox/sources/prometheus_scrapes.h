// Reads Prometheus' own series `up` of a node: whether Prometheus still reads the node's exporter,
// or any other target on it. One query per node. Used in the text about a silent node, and as one
// of the proofs that a machine is down.
#pragma once

#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "remediator/inbox/sources/prometheus_query.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class PrometheusScrapes final : public ScrapeStates {
 public:
  // The arguments are the same as for PrometheusReports.
  PrometheusScrapes(std::string url, http::Client& http, const CurrentPolicy& policy, Clock& clock);
  [[nodiscard]] Result<NodeScrapes> of(std::string_view node, std::string_view address) override;

 private:
  PrometheusQuery query_;
  const CurrentPolicy& policy_;
};

// Returns the PromQL for one node; `node` must have passed kube::validate_node_name. An address
// that is not an IP is ignored. `cluster` is the policy's name of the cluster.
[[nodiscard]] std::string scrapes_query(std::string_view node, std::string_view address,
                                        std::string_view cluster = {});

// Decodes the answer of /api/v1/query to scrapes_query().
[[nodiscard]] Result<NodeScrapes> decode_scrapes(std::string_view body);

}  // namespace gpuward::remediator
