// Collects the proofs that the machine of a silent node is down, freshly each time: its Lease, the
// scrapes of Prometheus, its cloud, its power. It refuses if the silence of other nodes looks like
// a partition. Used by the CaseDecider before a step, and by the StepPermits right before its
// calls.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/cloud/provider.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/node_signs.h"

namespace gpuward::remediator {

// All must outlive the reader; `scrapes` is null if no Prometheus is configured.
struct ProofParts {
  kube::Api& api;
  const NodeSigns& nodes;
  const CurrentPolicy& policy;
  ScrapeStates* scrapes;
  CloudProvider& machines;
  Clock& clock;
};

// How old the Lease of a live kubelet may be: it renews it every 10 s.
inline constexpr std::chrono::seconds kLeaseLasts{60};

// How long the proofs must hold without a break, checked at most kLookedLast apart: within that
// time a partition that affects other nodes shows by their silence.
inline constexpr std::chrono::seconds kProofsStand{120}, kLookedLast{60};

class ProofReader final : public ProofSource {
 public:
  explicit ProofReader(const ProofParts& parts) : parts_(parts) {}
  [[nodiscard]] Result<MachineProofs> read(const kube::Node& node) override;
  [[nodiscard]] Status check_silent(const kube::Node& node) override;

 private:
  // By node: when its Lease was last renewed.
  using Renewals = std::map<std::string, Clock::Wall>;
  [[nodiscard]] Status check_partition(const kube::Node& node);
  [[nodiscard]] Result<Renewals> renewals();
  [[nodiscard]] MachineProof scraped(const kube::Node& node);
  [[nodiscard]] Result<MachineProofs> gather(const kube::Node& node);
  // Whether `proofs` have held long enough.
  [[nodiscard]] bool have_stood(const std::string& node_uid, const Result<MachineProofs>& proofs);

  struct Standing {
    Clock::Steady since, looked;
  };

  ProofParts parts_;
  std::mutex mutex_;
  Renewals renewals_;  // guarded by mutex_, as is the next
  std::optional<Clock::Steady> listed_at_;
  std::map<std::string, Standing> standing_;  // by node UID; guarded by mutex_
};

}  // namespace gpuward::remediator
