// Nodes fall silent: their machines die or hang, their kubelets die, or the network from them to
// the API server, to Prometheus and to the power controllers is cut, for one node, a zone or all.
// Also answers for each source of proofs, from the truth. Has its own chance.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/act/proof_reader.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class SilentNodes final : public ScrapeStates {
 public:
  SilentNodes(Stage& stage, Fleet& fleet);

  // One event of the busy time.
  void do_something();
  // Ends all partitions. Machines that are down stay down, or all come back and one dies again.
  // After some minutes of the quiet time a partition may begin, and heal.
  void settle();
  // Does what happens by itself in the quiet time; `next` is when. Returns true if a partition has
  // healed.
  bool go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // Whether the partition of the quiet time has begun and not healed.
  [[nodiscard]] bool is_partitioned() const { return heals_ && !cuts_; }
  // The scrapes of the node that Prometheus has.
  [[nodiscard]] Result<NodeScrapes> of(std::string_view node, std::string_view address) override;
  // The proofs of the cloud and the BMC.
  [[nodiscard]] MachineProofs proofs(const remediator::Machine& order);
  // Whether its proofs must be read often enough to hold.
  [[nodiscard]] bool is_silent(std::string_view node) const;
  // At any time: gpuward's taint out-of-service is only on nodes whose machines have no power.
  void check_off();
  // At rest: a machine that is down, or that neither the API server nor Prometheus hears, is
  // recorded as silent, unless the silence looks like a partition.
  void check_rest(const Machine& machine, const NodeSigns& view) const;

 private:
  void follow_clouds();
  void fall(Machine& machine, const SilentState& silence);
  void cut_off_zone(const std::vector<int>& weights);
  void heal();
  void tell_unknown(Clock::Steady until);
  [[nodiscard]] http::ClientResponse leases(std::string_view node) const;
  [[nodiscard]] std::optional<Json> lease_of(const Machine& machine, bool is_listed) const;
  void die();
  void come_back();
  void come_back(Machine& machine);
  [[nodiscard]] bool is_cut_together(const Machine& machine) const;

  Stage& stage_;
  Fleet& fleet_;
  std::set<std::string> out_of_service_;  // nodes that have the taint
  // The partition of the quiet time.
  std::optional<Clock::Steady> cuts_, heals_;
};

// Without the gate of partitions, the node in question looks like the only silent one.
class LonelyNode final : public NodeSigns {
 public:
  LonelyNode(const Stage& stage, const NodeSigns& nodes) : stage_(stage), nodes_(nodes) {}
  [[nodiscard]] std::vector<NodeSign> signs(WallTime now) const override;
  [[nodiscard]] bool is_current(Clock::Steady now) const override { return nodes_.is_current(now); }
  void ask_about(const std::string& node) { node_ = node; }

 private:
  const Stage& stage_;
  const NodeSigns& nodes_;
  std::string node_;
};

// The proofs that a replica reads, noted in its look, and bent by a sabotage.
class NotedProofs final : public ProofSource {
 public:
  // `signs`: the nodes of `parts`.
  NotedProofs(Stage& stage, LonelyNode& signs, const ProofParts& parts)
      : stage_(stage), signs_(signs), reader_(parts) {}
  [[nodiscard]] Result<MachineProofs> read(const kube::Node& node) override;
  [[nodiscard]] Status check_silent(const kube::Node& node) override;

 private:
  Stage& stage_;
  LonelyNode& signs_;
  ProofReader reader_;
};

// The rule for the proofs when a replica intends such a step.
void check_proofs(const Stage& stage, const Remediation& after, const StepRecord& record);
// The rule for the machine when a replica requests the step: it does not run, and its cloud is not
// at work on it.
void check_down(const Stage& stage, const Machine* machine, const remediator::Machine& order);

// Applies to some simulations; has its own chance, so that the others stay as they are.
void let_nodes_fall_silent(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
