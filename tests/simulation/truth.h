// The cluster as it really is, whatever the replicas believe: every object after its last write,
// the owner of each cordon, and the order of all changes, which reach the informers with delay.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator::simulation {

using Tick = std::uint64_t;     // counts requests and events
using Version = std::uint64_t;  // of the API server's store

enum class Writer { kRemediator, kOthers };

struct NodeTruth {
  kube::Node node;
  std::optional<OwnerAnnotation> mark;  // gpuward's, as it is on the node
  bool is_tainted = false;              // by gpuward
  bool is_foreign_cordon = false;
  std::string cordoned_for;        // the Remediation that owns the cordon; empty: none
  std::optional<Tick> taken_back;  // when an operator removed gpuward's taint or cordon
  std::string taken_from;          // the Remediation that had put it there
};

class Truth {
 public:
  // `keys`: the labels that give the place of a node.
  explicit Truth(PlaceKeys keys) : keys_(std::move(keys)) {}

  void put_node(kube::Node node, Writer writer, Tick now);
  void drop_node(const std::string& name, Version now);
  void put_remediation(Remediation remediation, Tick now);
  void drop_remediation(const std::string& name, Version now);
  void put_ledger(Ledger ledger, Writer writer, Tick now);
  // etcd was restored: all is as in the backup, and known since now. The machines that there were
  // and the operators' actions stay.
  void go_back_to(const Truth& backup, Version version, Tick now);
  // The machine of that spec.providerID will not come back.
  void note_gone(const std::string& provider_id) { gone_.insert(provider_id); }

  [[nodiscard]] const NodeTruth* node(const std::string& name) const;
  [[nodiscard]] const Remediation* remediation(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, NodeTruth>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, Remediation>& remediations() const {
    return remediations_;
  }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] Tick ledger_changed() const { return ledger_changed_; }
  [[nodiscard]] bool is_gone(const std::string& provider_id) const {
    return gone_.contains(provider_id);
  }
  // Since when the breaker is open; nullopt if it is closed.
  [[nodiscard]] std::optional<Tick> breaker_opened() const { return breaker_opened_; }
  // How often operators have closed it.
  [[nodiscard]] int closings() const { return closings_; }
  // The metadata of the node of that UID when it joined; nullopt if there never was one.
  [[nodiscard]] std::optional<kube::ObjectMeta> joined(const std::string& uid) const;
  // The place of the present or former node of that name.
  [[nodiscard]] const Place& place(const std::string& node) const { return places_.at(node); }
  // The places of all nodes that there ever were, by name.
  [[nodiscard]] const std::map<std::string, Place>& places() const { return places_; }
  // The version of its last change.
  [[nodiscard]] Version changed(const std::string& name) const { return changed_.at(name); }
  // The versions of all changes, in order.
  [[nodiscard]] const std::vector<Version>& changes() const { return changes_; }
  // Since when an operator has wanted the Remediation to pause or to end; nullopt if none does.
  [[nodiscard]] std::optional<Tick> hands_off_since(const std::string& remediation) const;
  // Whether an operator has ever asked for its node back, even if a restore has lost that since.
  [[nodiscard]] bool was_given_back(const std::string& remediation) const {
    return given_back_.contains(remediation);
  }

 private:
  void note_change(const std::string& name, Version now);
  [[nodiscard]] std::string acted_on(const std::string& node_uid) const;
  [[nodiscard]] bool cordons_for_others(const NodeTruth& before) const;
  [[nodiscard]] bool record_claims_cordon(const NodeTruth& before) const;

  std::map<std::string, NodeTruth> nodes_;
  std::map<std::string, Remediation> remediations_;
  std::map<std::string, Tick> hands_off_;
  std::set<std::string> given_back_;
  std::map<std::string, Version> changed_;  // by name of node or Remediation
  std::map<std::string, Place> places_;
  std::map<std::string, kube::ObjectMeta> joined_;  // nodes, by UID
  std::set<std::string> gone_;                      // machines
  PlaceKeys keys_;
  Ledger ledger_;
  Tick ledger_changed_ = 0;
  std::optional<Tick> breaker_opened_;
  int closings_ = 0;
  std::vector<Version> changes_;
};

}  // namespace gpuward::remediator::simulation
