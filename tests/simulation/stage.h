// The parts that all of one simulation share: its setting, its chance, its time, the cluster and
// the truth about it. All writers other than the remediator write through it, so that the truth
// sees every write.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/json.h"
#include "core/runtime/log.h"
#include "remediator/policy/current_policy.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/simulation/exclusions_truth.h"
#include "tests/simulation/job_truth.h"
#include "tests/simulation/look.h"
#include "tests/simulation/pod_truth.h"
#include "tests/simulation/sabotage.h"
#include "tests/simulation/setting.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/written.h"

namespace gpuward::remediator::simulation {

// An invariant is broken. Thrown through the running code; ends the simulation.
struct Broken {
  std::string invariant, what;
};

inline void require(bool holds, const char* invariant, const std::string& what) {
  if (!holds) throw Broken{invariant, what};
}

// The namespace of the switch, the ledger and the lease.
inline const std::string kStateNamespace = "gpuward-system";
inline const std::string kSwitchName = "gpuward-remediator-switch";
inline const std::string kLedgerName = "gpuward-ledger";
inline const std::string kLeaseName = "gpuward-remediator";

inline const std::string kJobNamespace = JobsPolicy().ns;
inline const std::string kJobPods = "/api/v1/namespaces/" + kJobNamespace + "/pods";
inline const std::string kConfigMaps = "/api/v1/namespaces/" + kStateNamespace + "/configmaps";
inline const std::string kAttachments = "/apis/storage.k8s.io/v1/volumeattachments";

enum class Keeps { kNothing, kWrites };

struct Stage {
  Stage(std::uint64_t seed, Size size, Sabotage switched_off, Keeps keeps = Keeps::kNothing);

  // Writes as an admin, a kubelet or an operator does; the truth sees it.
  void create_node(const Json& node);
  void patch_node(const std::string& name, const Json& patch);
  void patch_node_status(const std::string& name, const Json& patch);
  void remove_node(const std::string& name);
  void attach(const Json& volume);
  void detach_all(const std::string& node);
  void annotate_remediation(const std::string& name, const Json& annotations);
  void patch_status(const std::string& remediation, const Json& status);
  // `by_force` removes its finalizers too.
  void delete_remediation(const std::string& name, bool by_force);
  void set_policy(Policy policy);
  void turn_switch(bool stops);
  void close_breaker();
  void forget_ledger();

  // The tick and the time of a new statement, the latest so far.
  [[nodiscard]] ExclusionsTruth::Said say_now() { return {++tick, clock.steady()}; }
  // The policy for that node as the operators mean it.
  [[nodiscard]] std::shared_ptr<const Policy> meant_for(const kube::Node& node) const {
    return policy_for(meant.get(), node.meta.labels);
  }

  // Records the write if `keeps_writes` is set.
  void keep(Written write);

  [[nodiscard]] bool is_off(Sabotage guard) const { return sabotage == guard; }
  // The time of a clock without jumps, which other machines put on their measurements.
  [[nodiscard]] WallTime true_time() const { return clock.wall() - jumped; }

  // An operator has edited the node's objects or its record.
  void note_edit(const std::string& node_uid) { edited_[node_uid] = ++tick; }
  [[nodiscard]] bool edited_since(const std::string& node_uid, Tick since) const {
    const auto found = edited_.find(node_uid);
    return found != edited_.end() && found->second >= since;
  }

  Chance chance, pairs_chance, pods_chance, watch_chance, late_chance, edits_chance, taints_chance,
      cloud_chance, identity_chance, holds_chance, informer_chance, lead_chance, places_chance,
      jobs_chance, ends_chance, care_chance, sinks_chance, kept_chance, torn_chance, silent_chance,
      announced_chance, drills_chance, newcomers_chance, absences_chance, races_chance,
      operands_chance, restarts_chance;
  Setting setting;
  Sabotage sabotage;
  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube{clock};
  Truth truth{place_keys(setting.policy.budgets)};
  ExclusionsTruth exclusions;
  Trace trace{clock};
  Log log{LogLevel::kError, LogFormat::kLogfmt};
  CurrentPolicy meant;                   // the policy as the operators mean it
  CurrentPolicy policy;                  // the policy as the replicas read it
  std::map<std::string, Tick> silenced;  // fingerprints of alerts, and since when
  bool keeps_writes = false;
  std::vector<Written> writes;
  Tick tick = 0;
  // By node: its VolumeAttachments, and when each came.
  std::map<std::string, std::map<std::string, Tick>> volumes;
  // By node: its pods of operands, and when each came.
  std::map<std::string, std::map<std::string, Tick>> operand_pods;
  std::set<std::string> bad_links;  // providerIDs of machines between which NCCL fails
  std::size_t deletions = 0;        // of Remediations
  std::size_t refused_evictions = 0;
  int restores = 0;               // of etcd, from a backup
  std::set<std::string> noticed;  // processes that have noticed one
  std::size_t jobs_made = 0;
  PodTruths pods;
  JobTruths jobs;           // of the steps on one node
  std::string evicts_for;   // the Remediation that last requested a permit for a removal
  bool asks_leave = false;  // a permit for it is being requested
  std::map<std::string, Tick> ledger_told;  // by replica: its last answer with the ledger
  std::vector<Look*> looks;                 // the replicas that are at work, the innermost last
  bool is_quiet = false;                    // nothing goes wrong any more
  Clock::Steady::duration watched{
      0};                          // in the quiet time: total time in which watches had no changes
  std::optional<Tick> stopped_at;  // the stop switch
  std::string holder;              // the present holder of the lease
  std::chrono::milliseconds jumped{0};
  // Rules of other parts for the writes of the replicas to existing Remediations.
  std::vector<std::function<void(const Remediation&, const Remediation&)>> on_rewritten;
  // The same for a job of others that a replica has patched.
  std::function<void(const Json& after)> on_job_patched;
  // The API server's answer for the nodes' Leases: all, or the one of that node.
  std::function<http::ClientResponse(std::string_view node)> node_leases;
  std::map<std::string, Tick> deleted;   // by Remediation: when it was last deleted
  std::map<std::string, Tick> wiped;     // by Remediation: when an edit last emptied its steps
  std::set<std::string> closed_by_hand;  // likewise, by an edit of their phase

 private:
  std::map<std::string, Tick> edited_;  // by node UID
  Json create(const std::string& collection, const Json& object);
  Json patch(const std::string& path, const Json& patch);
  void remove(const std::string& path);
};

}  // namespace gpuward::remediator::simulation
