// What the Reconciler (controller.h) works with, all of it made elsewhere. Put together by the
// composition root (remediator.cpp), the simulation and the tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/actions/announcer.h"
#include "remediator/actions/step_action.h"
#include "remediator/budgets/slots.h"
#include "remediator/execution/observer.h"
#include "remediator/guards/active_alerts.h"
#include "remediator/guards/approval_guard.h"
#include "remediator/guards/machine_proofs.h"
#include "remediator/model/health_report.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/exclusion_store.h"
#include "remediator/records/remediation_store.h"

namespace gpuward::remediator {

// When to look again; nullopt: when something changes.
using LookAgain = Result<std::optional<std::chrono::milliseconds>>;

// All must outlive the reconciler; `reports` is null where no Prometheus is configured,
// `alerts` where no Alertmanager is.
struct ReconcilerParts {
  kube::Api& api;
  RemediationStore& store;
  ClusterView& view;
  CurrentPolicy& policy;
  HealthReports* reports;
  ActiveAlerts* alerts;
  Slots& slots;
  StepActions step_actions;
  // Why nothing may be changed right now, for any node; asked before every change.
  std::function<Status()> permit;
  Announcer& announcer;
  ReconcileObserver& observer;
  Clock& clock;
  Notifications* notifications = nullptr;  // null: nobody is told but by Events
  ExclusionStore* exclusions = nullptr;    // null: nobody is excluded for a while
  ApprovalGuard* guard = nullptr;          // null: approvals are believed as they are
  ProofSource* proofs = nullptr;           // null: nothing proves that a machine is down
  // Whether this process leads still; asked last before anything leaves for others than the API
  // server, which refuses those who do not. Null: there is no other.
  std::function<bool()> leads = {};
  std::uint64_t jitter_seed = 0;  // of its waits; 0: from the system
};

}  // namespace gpuward::remediator
