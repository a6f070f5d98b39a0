// A simulated cluster for the real decisions: nodes, Remediations and the ledger as plain values,
// steps that always succeed after a usual time. Used by the replay; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/cli/replay/replay_cluster.h"
#include "remediator/decide/budgets/ledger.h"
#include "remediator/decide/decide.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// One recorded event of the replay.
struct ReplayEvent {
  enum class Kind : std::uint8_t { kAlert, kAct, kBegin, kDone, kWait, kEnd };
  WallTime at;
  std::string node;
  Kind kind = Kind::kAlert;
  std::string rule;  // of kWait and kEnd: the deciding rule
  std::string text;
  std::vector<Step> steps;  // of kAct, kBegin and kDone
};
[[nodiscard]] std::string_view to_string(ReplayEvent::Kind kind);  // "alert", "act", ...

struct ReplayOptions {
  bool approves_all = false;  // at once, each step that waits for approval
};

class Replayer {
 public:
  // Copies the nodes as healthy ones, without any taint or cordon.
  Replayer(std::shared_ptr<const Policy> policy, const std::vector<kube::Node>& nodes,
           ReplayOptions options);

  // Adds evidence about a node, at that time. Ignores evidence that names no node.
  void take(const AlertSignal& signal, WallTime now);
  // Performs the steps that are due on the node; returns when to check it again.
  [[nodiscard]] std::optional<std::chrono::milliseconds> look(const std::string& node,
                                                              WallTime now);

  [[nodiscard]] const std::vector<ReplayEvent>& events() const { return events_; }
  [[nodiscard]] const ReplayCluster& cluster() const { return cluster_; }

 private:
  struct Case;

  class Past;

  [[nodiscard]] Answers::Slot ask_slot(const Case& now, Step step, bool only_worn_out);
  // With `approves_all`, a step that waits for an approval gets it.
  [[nodiscard]] Decision decide_in_the_past(Case& now);
  // Returns whether more can be done at once.
  [[nodiscard]] bool carry_out(Case& now);
  void act(Case& now);
  void begin(Case& now);
  [[nodiscard]] bool watch(Case& now);
  void finish(Case& now);
  void heal(Case& now);
  void close(Case& now);
  void write(ReplayEvent::Kind kind, const Case& now, std::string text,
             std::vector<Step> steps = {});

  std::shared_ptr<const Policy> policy_;
  ReplayOptions options_;
  ReplayCluster cluster_;
  Ledger ledger_;
  std::map<std::string, WallTime> ends_;            // of the running step, by Remediation
  std::map<std::string, std::string> replaced_by_;  // node, by Remediation
  std::map<std::string, std::string> said_;         // last rule recorded for a wait, by Remediation
  std::vector<ReplayEvent> events_;
  int boots_ = 0;
};

}  // namespace gpuward::remediator
