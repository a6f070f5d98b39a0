// The dependencies of the Reconciler (controller.h). Assembled by the composition root
// (remediator.cpp), the simulation and the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/announcer.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/act/approval_guard.h"
#include "remediator/act/observer.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/decide/budgets/slots.h"
#include "remediator/inbox/sources/active_alerts.h"
#include "remediator/model/health_report.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// When to check again; nullopt: when something changes.
using LookAgain = Result<std::optional<std::chrono::milliseconds>>;

// The arguments must outlive the reconciler. `reports` is null without a Prometheus, `alerts` is
// null without an Alertmanager.
struct ReconcilerParts {
  kube::Api& api;
  RemediationStore& store;
  ClusterView& view;
  CurrentPolicy& policy;
  HealthReports* reports;
  ActiveAlerts* alerts;
  Slots& slots;
  StepActions step_actions;
  // Returns why no node may be changed right now. Called before every change.
  std::function<Status()> permit;
  Announcer& announcer;
  ReconcileObserver& observer;
  Clock& clock;
  Notifications* notifications = nullptr;  // Null: gpuward notifies only by Events.
  ExclusionStore* exclusions = nullptr;    // Null: there are no temporary exclusions.
  // Null: gpuward does not check whether approvals are guarded.
  ApprovalGuard* guard = nullptr;
  ProofSource* proofs = nullptr;  // Null: no machine can be proven down.
  // Returns whether this process is still the leader. Checked last before a call to a system other
  // than the API server. The API server itself refuses calls of former leaders. Null: there is no
  // other replica.
  std::function<bool()> leads = {};
  std::uint64_t jitter_seed = 0;  // Seed of the random waits; 0: from the system.
};

}  // namespace gpuward::remediator
