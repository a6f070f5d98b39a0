// Rules that hold at every moment, whatever fails: checked at every write that reaches the API
// server and at every call to the cloud. Each has a name; a broken one is thrown as Broken.
#pragma once

#include <map>
#include <string>

#include "remediator/act/cloud/provider.h"
#include "tests/simulation/announcement_rules.h"
#include "tests/simulation/call_rules.h"
#include "tests/simulation/care_rules.h"
#include "tests/simulation/drill_rules.h"
#include "tests/simulation/end_rules.h"
#include "tests/simulation/eviction_rules.h"
#include "tests/simulation/evidence_rules.h"
#include "tests/simulation/humans.h"
#include "tests/simulation/job_rules.h"
#include "tests/simulation/ledger_rules.h"
#include "tests/simulation/mark_rules.h"
#include "tests/simulation/newcomers.h"
#include "tests/simulation/pair_rules.h"
#include "tests/simulation/request_rules.h"
#include "tests/simulation/restore_rules.h"
#include "tests/simulation/soaked_verify.h"
#include "tests/simulation/stage.h"
#include "tests/simulation/taint_rules.h"
#include "tests/simulation/wave_rules.h"

namespace gpuward::remediator::simulation {

class Invariants {
 public:
  Invariants(Stage& stage, const Humans& humans) : stage_(stage), humans_(humans) {}

  // A replica has changed a Node. Called before the truth is updated.
  void on_node_written(const NodeTruth& before, const kube::Node& after);
  // A replica has written a Remediation; `before` is null if it is new.
  void on_remediation_written(const Remediation* before, const Remediation& after);
  // Requires that the writer had read the version that it overwrote.
  void check_was_read(const Remediation& before) const;
  void on_reboot_asked(const remediator::Machine& order, bool is_on_its_way);
  void on_end_asked(const remediator::Machine& order);
  void on_eviction(const Remediation& remediation, const kube::Node& node);
  void on_job_made(const Json& job);
  // A replica has suspended a job that has lost pods.
  void on_job_suspended(const std::string& remediation, const std::string& what) const;
  // etcd is restored. Called before the truth goes back.
  void on_restored(const BackedUp& backup);
  [[nodiscard]] const MarkRules& marks() const { return taint_and_cordon_; }
  [[nodiscard]] LedgerRules& ledger() { return ledger_; }
  [[nodiscard]] const CareRules& care() const { return care_; }
  [[nodiscard]] const TaintRules& taints() const { return taints_; }
  [[nodiscard]] CallRules& calls() { return calls_; }
  [[nodiscard]] RestoreRules& restore() { return restore_; }
  [[nodiscard]] const RestoreRules& restore() const { return restore_; }
  [[nodiscard]] EndRules& ends() { return ends_; }
  [[nodiscard]] const EndRules& ends() const { return ends_; }
  [[nodiscard]] EvictionRules& evictions() { return evictions_; }
  [[nodiscard]] NewcomerRules& newcomers() { return newcomers_; }
  [[nodiscard]] SoakRules& soaks() { return soaks_; }
  [[nodiscard]] WaveRules& waves() { return waves_; }
  [[nodiscard]] RequestRules& requests() { return requests_; }
  [[nodiscard]] const EvidenceRules& evidence() const { return evidence_; }
  [[nodiscard]] AnnouncementRules& announced() { return announced_; }
  [[nodiscard]] const AnnouncementRules& announced() const { return announced_; }
  [[nodiscard]] DrillRules& drills() { return drills_; }
  [[nodiscard]] const DrillRules& drills() const { return drills_; }

 private:
  void on_marks_put(const Remediation& owner, const NodeTruth& before, const kube::Node& after);
  void on_intent(const Remediation& before, const Remediation& after, const StepRecord& record);
  void check_returned(const NodeTruth& before) const;
  void check_mode(Step step, const kube::Node& node, const std::string& what) const;
  void check_view(const std::string& what) const;
  void check_silence(const Remediation& after, const std::string& what) const;
  void check_evidence(const Remediation& after, const StepRecord& record, Severity wanted) const;
  void check_measured(const Remediation& after, const StepRecord& record) const;
  void check_approval(const Remediation& after, const StepRecord& record) const;
  void check_hands_off(const std::string& remediation, const std::string& what) const;
  void check_not_stopped(const std::string& what) const;

  Stage& stage_;
  const Humans& humans_;
  LedgerRules ledger_{stage_};
  RestoreRules restore_{stage_};
  CallRules calls_{stage_, restore_};
  EndRules ends_{stage_};
  EvidenceRules evidence_{stage_};
  PairRules pairs_{stage_};
  JobRules jobs_{stage_};
  RequestRules requests_{stage_};
  NewcomerRules newcomers_{stage_};
  EvictionRules evictions_{stage_, newcomers_};
  SoakRules soaks_{stage_};
  WaveRules waves_{stage_};
  MarkRules taint_and_cordon_{stage_};
  TaintRules taints_{stage_};
  CareRules care_{stage_};
  AnnouncementRules announced_{stage_};
  DrillRules drills_{stage_};
  std::map<std::string, int> asked_;  // restarts, by Remediation and attempt
};

}  // namespace gpuward::remediator::simulation
