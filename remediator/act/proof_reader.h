// Collects the proofs that the machine of a silent node is down, with new reads each time: the
// node's Lease, the scrapes of Prometheus, the cloud, the power state. It refuses if the silence of
// other nodes suggests a partition. Used by the CaseDecider before a step, and by the StepPermits
// right before the step's calls.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/act/cloud/provider.h"
#include "remediator/cluster/node_signs.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The arguments must outlive the reader; `scrapes` is null if no Prometheus is configured.
struct ProofParts {
  kube::Api& api;
  const NodeSigns& nodes;
  const CurrentPolicy& policy;
  ScrapeStates* scrapes;
  CloudProvider& machines;
  Clock& clock;
};

// Largest age of the Lease of a live kubelet. A kubelet renews its Lease every 10 s.
inline constexpr std::chrono::seconds kLeaseLasts{60};

// kProofsStand: how long the proofs must hold without a break, checked at most kLookedLast apart.
// Within that time a partition also shows by the silence of other nodes.
inline constexpr std::chrono::seconds kProofsStand{120}, kLookedLast{60};

class ProofReader final : public ProofSource {
 public:
  explicit ProofReader(const ProofParts& parts) : parts_(parts) {}
  [[nodiscard]] Result<MachineProofs> read(const kube::Node& node) override;
  [[nodiscard]] Status check_silent(const kube::Node& node) override;

 private:
  // Time of each node's last Lease renewal.
  using Renewals = std::map<std::string, Clock::Wall>;
  [[nodiscard]] Status check_partition(const kube::Node& node);
  [[nodiscard]] Result<Renewals> renewals();
  [[nodiscard]] MachineProof scraped(const kube::Node& node);
  [[nodiscard]] Result<MachineProofs> gather(const kube::Node& node);
  // Returns whether `proofs` have held long enough.
  [[nodiscard]] bool have_stood(const std::string& node_uid, const Result<MachineProofs>& proofs);

  struct Standing {
    Clock::Steady since, looked;
  };

  ProofParts parts_;
  std::mutex mutex_;
  Renewals renewals_;  // Guarded by mutex_.
  std::optional<Clock::Steady> listed_at_;
  std::map<std::string, Standing> standing_;  // By node UID; guarded by mutex_.
};

}  // namespace gpuward::remediator
