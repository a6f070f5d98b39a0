// Nodes fall silent: their machines die or hang, their kubelets do, or the network between them and
// the API server, Prometheus and what controls their power is cut, for one node, a zone or all. And
// what each source of proofs says of them, from the truth. With chance of its own.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "remediator/execution/proof_reader.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class SilentNodes final : public ScrapeStates {
 public:
  SilentNodes(Stage& stage, Fleet& fleet);

  // In the busy time.
  void do_something();
  // The end of all partitions. Machines that are down stay down, or one dies after all are back, or
  // after some minutes of the quiet time a partition begins, and heals.
  void settle();
  // What happens by itself in the quiet time, and when. True where a partition has healed.
  bool go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // The partition of the quiet time stands.
  [[nodiscard]] bool is_partitioned() const { return heals_ && !cuts_; }
  // What Prometheus reads.
  [[nodiscard]] Result<NodeScrapes> of(std::string_view node, std::string_view address) override;
  // What the cloud and the BMC say.
  [[nodiscard]] MachineProofs proofs(const remediator::Machine& order);
  // Its proofs are looked at often enough to stand.
  [[nodiscard]] bool is_silent(std::string_view node) const;
  // At any time: only machines without power have the taint out-of-service of ours.
  void check_off();
  // At rest: a machine that is down, or that neither the API server nor Prometheus hears, is known
  // to be silent, or what is known looks like a partition.
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

// Without the gate of partitions the node that is asked about is read as the only silent one.
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

// Proofs as a replica reads them, noted in its look, and bent where a sabotage says so.
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

// What must be true of the proofs where such a step is intended.
void check_proofs(const Stage& stage, const Remediation& after, const StepRecord& record);
// And of the machine where it is asked for: it does not run, and its cloud is not at work on it.
void check_down(const Stage& stage, const Machine* machine, const remediator::Machine& order);

// In some simulations; with chance of its own, so that the others stay as they are.
void let_nodes_fall_silent(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
