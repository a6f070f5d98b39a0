// What all parts of one simulation share: its setting, its chance, its time, the cluster and the
// truth about it. Others than the remediator write through it, so that nothing goes unseen.
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

// An invariant is broken: thrown through whatever is running; it ends the simulation.
struct Broken {
  std::string invariant, what;
};

inline void require(bool holds, const char* invariant, const std::string& what) {
  if (!holds) throw Broken{invariant, what};
}

// Where the switch, the ledger and the lease are.
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

  // As an admin, a kubelet or a human does; the truth hears of it.
  void create_node(const Json& node);
  void patch_node(const std::string& name, const Json& patch);
  void patch_node_status(const std::string& name, const Json& patch);
  void remove_node(const std::string& name);
  void attach(const Json& volume);
  void detach_all(const std::string& node);
  void annotate_remediation(const std::string& name, const Json& annotations);
  void patch_status(const std::string& remediation, const Json& status);
  // By force: with its finalizers taken off.
  void delete_remediation(const std::string& name, bool by_force);
  void set_policy(Policy policy);
  void turn_switch(bool stops);
  void close_breaker();
  void forget_ledger();

  // Something is said; it is the latest that was.
  [[nodiscard]] ExclusionsTruth::Said say_now() { return {++tick, clock.steady()}; }
  // The policy as people mean it for that node.
  [[nodiscard]] std::shared_ptr<const Policy> meant_for(const kube::Node& node) const {
    return policy_for(meant.get(), node.meta.labels);
  }

  // Kept where `keeps_writes` says so.
  void keep(Written write);

  [[nodiscard]] bool is_off(Sabotage guard) const { return sabotage == guard; }
  // Of a clock that nobody has jumped: what other machines stamp their measurements with.
  [[nodiscard]] WallTime true_time() const { return clock.wall() - jumped; }

  // People have edited what is on the node, or what is written down of it.
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
  CurrentPolicy meant;                   // the policy as people mean it
  CurrentPolicy policy;                  // as the replicas read it
  std::map<std::string, Tick> silenced;  // fingerprints of alerts, since when
  bool keeps_writes = false;
  std::vector<Written> writes;
  Tick tick = 0;
  // By node: the VolumeAttachments there, and when each came.
  std::map<std::string, std::map<std::string, Tick>> volumes;
  // By node: the pods of operands there, and when each came.
  std::map<std::string, std::map<std::string, Tick>> operand_pods;
  std::set<std::string> bad_links;  // providerIDs of machines between which NCCL fails
  std::size_t deletions = 0;        // of Remediations
  std::size_t refused_evictions = 0;
  int restores = 0;               // of etcd, from a backup
  std::set<std::string> noticed;  // processes that have noticed one
  std::size_t jobs_made = 0;
  PodTruths pods;
  JobTruths jobs;           // of the steps of one node
  std::string evicts_for;   // the Remediation whose permit was asked for last, for a removal
  bool asks_leave = false;  // and is being asked for
  std::map<std::string, Tick> ledger_told;  // by replica: its last answer with the ledger
  std::vector<Look*> looks;                 // who is at work, the innermost last
  bool is_quiet = false;                    // nothing goes wrong any more
  Clock::Steady::duration watched{0};       // in the quiet time, in which watches told of nothing
  std::optional<Tick> stopped_at;           // the switch that stops everything
  std::string holder;                       // of the lease, as it stands
  std::chrono::milliseconds jumped{0};
  // Rules of others about what the replicas write of a Remediation that was there before.
  std::vector<std::function<void(const Remediation&, const Remediation&)>> on_rewritten;
  // The same about a job of others that a replica has patched.
  std::function<void(const Json& after)> on_job_patched;
  // The API server's answer about the nodes' Leases: all, or that of one node.
  std::function<http::ClientResponse(std::string_view node)> node_leases;
  std::map<std::string, Tick> deleted;   // by Remediation: when it was, the last time
  std::map<std::string, Tick> wiped;     // by Remediation: when an edit last emptied its steps
  std::set<std::string> closed_by_hand;  // likewise, by an edit of their phase

 private:
  std::map<std::string, Tick> edited_;  // by node UID
  Json create(const std::string& collection, const Json& object);
  Json patch(const std::string& path, const Json& patch);
  void remove(const std::string& path);
};

}  // namespace gpuward::remediator::simulation
