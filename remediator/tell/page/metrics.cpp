#include "remediator/tell/page/metrics.h"

#include <string_view>

#include "core/metrics/process.h"

namespace gpuward::remediator {
namespace {

using metrics::Families;
using enum metrics::Type;

constexpr std::string_view kElsewhere = "on a replica that does not lead";

// A counter with a series for each value of its one label.
void declare_by_label(Families& families, std::string_view name, std::string_view help,
                      std::string_view label, const auto& values) {
  auto& family = declare(families, {name, help, kCounter, {label}});
  for (const auto& [value, count] : values) family.add({value}, count);
}

void append_remediations(Families& families, const Standing& standing) {
  auto& number = declare(families, {"gpuward_remediator_remediations",
                                    "Remediations in the API server, including closed ones, "
                                    "excluding drills.",
                                    kGauge,
                                    {"phase", "severity"},
                                    "without any"});
  auto& oldest = declare(
      families,
      {"gpuward_remediator_oldest_step_timestamp_seconds",
       "Start of the longest-running current step among the open Remediations in this phase; "
       "a Remediation without a step counts from when it was opened.",
       kGauge,
       {"phase", "severity"},
       "without open Remediations"});
  std::size_t unanswered = 0;
  for (const ClusterView::Count& count : standing.remediations) {
    number.add({to_string(count.phase), to_string(count.severity)}, count.number);
    oldest.add({to_string(count.phase), to_string(count.severity)}, count.oldest_step);
    unanswered += count.unanswered;
  }
  auto& drills = declare(families, {"gpuward_remediator_drills",
                                    "Remediations whose alerts are all of injected faults; the "
                                    "other gauges of Remediations leave them out.",
                                    kGauge,
                                    {"phase"},
                                    "without any"});
  for (const auto& [phase, count] : standing.drills) drills.add({phase}, count);
  declare(families,
          {"gpuward_remediator_approvals_waiting",
           "Remediations whose next step is awaiting approval."},
          unanswered);
}

void append_waiting(Families& families, const std::vector<Waiting>& waiting) {
  auto& number = declare(
      families, {"gpuward_remediator_waiting",
                 "Open Remediations without a running step, by the rule of the last decision "
                 "(`status.rule`): `guard.evidence`, `guard.approval`, `guard.stop`, "
                 "`budget.pool`, `mode`, ... (`docs/guards.md`); `undecided` before the first "
                 "decision. At most 64 rules, then `other`.",
                 kGauge,
                 {"phase", "rule"},
                 "without such Remediations"});
  auto& since =
      declare(families, {"gpuward_remediator_waiting_since_timestamp_seconds",
                         "When the longest-waiting of these Remediations last made progress, "
                         "regardless of what it waited for.",
                         kGauge,
                         {"phase", "rule"},
                         "without such Remediations"});
  for (const Waiting& one : waiting) {
    number.add({to_string(one.phase), one.rule}, one.number);
    since.add({to_string(one.phase), one.rule}, one.since);
  }
}

void append_left_in_service(Families& families, const Standing& standing) {
  auto& family =
      declare(families,
              {"gpuward_remediator_left_in_service",
               "Unhealthy nodes that stay in service although the policy has steps for them, by "
               "the rule that prevents the steps: `budget.taint`, `budget.storm`, `budget.census`, "
               "`budget.ledger`, `guard.view`, or the budget of the plan's first step.",
               kGauge,
               {"rule"},
               "without any"});
  auto by_rule = standing.left_in_service;
  for (const char* rule : {"budget.taint", "budget.storm"}) by_rule.try_emplace(rule, 0);
  for (const auto& [rule, nodes] : by_rule) family.add({rule}, nodes);
}

void append_operands_paused(Families& families, const Standing& standing) {
  auto& family = declare(families, {"gpuward_remediator_operands_paused",
                                    "1 for each node on which gpuward has paused operands of the "
                                    "GPU operator (`docs/steps.md`), such as the device plugin.",
                                    kGauge,
                                    {"node"},
                                    "without any"});
  for (const std::string& node : standing.operands_paused) family.add({node}, 1);
}

void append_webhook(Families& families, const CounterValues& values) {
  auto& requests =
      declare(families, {"gpuward_remediator_webhook_requests_total",
                         "Responses of the webhook's listener by HTTP status, including requests "
                         "that the webhook itself never sees: 401 (credentials), 404 and 405 "
                         "(path, method), 408 (too slow), 411 and 413 (length), 431 (headers), "
                         "503 (too many bytes at once).",
                         kCounter,
                         {"code"}});
  for (const auto& [code, count] : values.webhook_requests)
    requests.add({std::to_string(code)}, count);
  declare(families,
          {"gpuward_remediator_notifications_total", "Notifications that reached the webhook.",
           kCounter},
          values.notifications);
  declare_by_label(families, "gpuward_remediator_notifications_failed_total",
                   "Notifications that were not answered with 200.", "reason",
                   values.notifications_failed);
  declare_by_label(families, "gpuward_remediator_alerts_total",
                   "Alerts in notifications, by outcome.", "outcome", values.alerts);
  declare_by_label(families, "gpuward_remediator_alerts_ignored_total",
                   "Alerts of all sources that changed nothing, by reason: `no_such_node`, "
                   "`older_than_node`, `late_repeat` (a late copy of an alert that has ended, or "
                   "that an operator has cancelled), `nothing_to_end`, `earlier_episode` (the end "
                   "of an earlier episode), `still_active` (Alertmanager does not confirm the "
                   "end), `no_room`. Each firing alert that is ignored is logged once per episode.",
                   "reason", values.alerts_ignored);
  declare(families,
          {"gpuward_remediator_truncated_alerts_total",
           "Alerts that Alertmanager left out because of its `max_alerts`.", kCounter},
          values.truncated_alerts);
  declare(families,
          {"gpuward_remediator_webhook_seconds_total",
           "Time spent answering notifications; for the mean, divide by "
           "`gpuward_remediator_notifications_total`.",
           kCounter},
          values.webhook_seconds);
  declare(families,
          {"gpuward_remediator_webhook_slowest_seconds",
           "Duration of the slowest response since the start."},
          values.webhook_slowest_seconds);
  declare(families,
          {"gpuward_remediator_last_notification_timestamp_seconds",
           "When the webhook was last called.",
           kGauge,
           {},
           "until the first call"},
          values.last_notification);
}

void append_reconciler(Families& families, const CounterValues& values) {
  declare_by_label(families, "gpuward_remediator_decisions_total",
                   "Decisions that changed a Remediation.", "verdict", values.decisions);
  declare_by_label(families, "gpuward_remediator_actions_total", "Actions carried out on nodes.",
                   "action", values.actions);
  declare_by_label(families, "gpuward_remediator_action_failures_total",
                   "Actions that failed; they are retried.", "action", values.action_failures);
  declare_by_label(
      families, "gpuward_remediator_errors_total",
      "Failed requests to the API server, and failed queries to Prometheus for health reports.",
      "kind", values.errors);
  auto& ages = declare(
      families,
      {"gpuward_remediator_fault_age_seconds",
       "Time from the first alert about the node (its `startsAt`; alerts do not carry the time of "
       "the fault) to a milestone: `accepted`, `tainted`, `cordoned`, `drained`, `acted` (reset, "
       "restarted or replaced) and `recovered` (the node is in service, or the "
       "replacement that the policy waits for). Each milestone is counted once per Remediation, by "
       "the replica that recorded it.",
       kHistogram,
       {"milestone"}});
  for (const auto& [milestone, age] : values.since_fault) ages.add({to_string(milestone)}, age);
}

void append_spending(Families& families, const LedgerSlots::Spending& spending) {
  declare(
      families,
      {"gpuward_remediator_breaker_open",
       "Whether the circuit breaker is open: until an operator closes it, nodes are only tainted.",
       kGauge,
       {},
       kElsewhere},
      spending.breaker.open);
  auto& slots = declare(
      families, {"gpuward_remediator_slots",
                 "Budget slots in use, by purpose: `taint`, `cordon`, `disrupt`, `terminate`.",
                 kGauge,
                 {"harm"},
                 kElsewhere});
  for (const auto& [impact, number] : spending.slots) slots.add({to_string(impact)}, number);
  auto& used = declare(families, {"gpuward_remediator_budget_used",
                                  "Nodes that currently count against the budget.",
                                  kGauge,
                                  {"budget", "scope"},
                                  kElsewhere});
  auto& allowed = declare(families, {"gpuward_remediator_budget_allowed",
                                     "Maximum number of nodes that the budget allows.",
                                     kGauge,
                                     {"budget", "scope"},
                                     kElsewhere});
  for (const BudgetUse& use : spending.uses) {
    used.add({use.guard, use.where}, use.used);
    allowed.add({use.guard, use.where}, use.allowed);
  }
}

std::string_view word_of(Delivery delivery) {
  switch (delivery) {
    case Delivery::kSent:
      return "sent";
    case Delivery::kRefused:
      return "refused";
    case Delivery::kGaveUp:
      return "gave_up";
    case Delivery::kOverflow:
      break;
  }
  return "overflow";
}

void append_sinks(Families& families, const std::vector<SinkTally>& sinks) {
  auto& ended =
      declare(families,
              {"gpuward_notifications_total",
               "Notifications to a sink of the policy, by result: `sent`, or lost: `refused` (the "
               "receiver rejected it permanently), `gave_up` (retried for `give_up_after`) or "
               "`overflow` (10,000 were already waiting).",
               kCounter,
               {"sink", "result"},
               "without sinks"});
  auto& waiting = declare(families, {"gpuward_notifications_waiting",
                                     "Notifications that a sink has not accepted yet.",
                                     kGauge,
                                     {"sink"},
                                     "without sinks"});
  for (const SinkTally& tally : sinks) {
    for (const auto& [delivery, count] : tally.ended)
      ended.add({tally.sink, word_of(delivery)}, count);
    waiting.add({tally.sink}, tally.waiting);
  }
}

// Only the leading replica has these.
void append_upkeep(Families& families, const Standing& standing) {
  declare(families,
          {"gpuward_remediator_ledger_kept",
           "Whether the budget ledger could be read and updated at the last check (once a minute).",
           kGauge,
           {},
           kElsewhere},
          standing.ledger_kept);
  declare(families,
          {"gpuward_remediator_stopped",
           "Whether the stop switch is on or cannot be read; checked once a minute.",
           kGauge,
           {},
           kElsewhere},
          standing.stopped);
  auto& exclusions = declare(
      families, {"gpuward_remediator_exclusion_expires_timestamp_seconds",
                 "When the exclusion of a node or instance expires (`gpuwardctl exclusions`).",
                 kGauge,
                 {"subject"},
                 "without exclusions, and on a replica that does not lead"});
  for (const auto& [subject, exclusion] : standing.exclusions)
    exclusions.add({subject}, exclusion.until);
}

void append_standing(Families& families, const Standing& standing) {
  append_remediations(families, standing);
  declare(families,
          {"gpuward_remediator_approvals_guarded",
           "Whether the API server refused a forged approval at the last test.",
           kGauge,
           {},
           "when the policy needs no approval"},
          standing.approvals_guarded);
  append_waiting(families, standing.waiting);
  append_left_in_service(families, standing);
  append_operands_paused(families, standing);
  declare(families, {"gpuward_remediator_mode_info",
                     "Always 1; `mode` is the most that the remediator may do: `observe`, `taint`, "
                     "`cordon` or `full`.",
                     kGauge,
                     {"mode"}})
      .add({to_string(standing.mode)}, 1);
  declare(families, {"gpuward_remediator_leads", "Whether this replica is the leader."},
          standing.leads);
  if (standing.leads && standing.spending) append_spending(families, *standing.spending);
  if (standing.leads) append_upkeep(families, standing);
  declare(families, {"gpuward_remediator_queue_length", "Nodes waiting to be checked."},
          standing.queue_length);
  families.push_back(standing.api_times);
  append_sinks(families, standing.sinks);
  declare(families,
          {"gpuward_remediator_ready",
           "Whether the state of the cluster is known and the API server answers."},
          standing.ready);
  declare(families,
          {"gpuward_remediator_events_lost_total", "Kubernetes Events that could not be written.",
           kCounter},
          standing.events_lost);
  declare(families,
          {"gpuward_remediator_audit_lines_lost_total", "Audit lines that could not be written.",
           kCounter},
          standing.audit_lines_lost);
  declare(families,
          {"gpuward_config_last_reload_successful",
           "0 while the newest policy file is invalid and the previous one is in force."},
          standing.last_reload_good);
  declare(families,
          {"gpuward_config_last_reload_success_timestamp_seconds",
           "When the policy in force was read."},
          standing.last_good_reload);
}

void append_sources(Families& families, const std::vector<SourceCounts>& sources) {
  constexpr std::string_view kOff = "while the source is off";
  auto& errors = declare(
      families, {"gpuward_remediator_source_errors_total",
                 "Failed queries of a source. The leader queries these sources: `prometheus`, "
                 "`condition`, `silent`, `loki`, `events`, `node-lines`, `triage`, "
                 "`announcement`.",
                 kCounter,
                 {"source"},
                 kOff});
  auto& read = declare(families, {"gpuward_remediator_source_read_total",
                                  "Alerts, conditions or lines read from a source.",
                                  kCounter,
                                  {"source"},
                                  kOff});
  auto& findings = declare(families, {"gpuward_remediator_source_findings_total",
                                      "New findings about a node that were recorded, by source.",
                                      kCounter,
                                      {"source"},
                                      kOff});
  auto& success = declare(families, {"gpuward_remediator_source_last_success_timestamp_seconds",
                                     "When a source was last read without an error.",
                                     kGauge,
                                     {"source"},
                                     "until it has been read"});
  auto& lag = declare(families, {"gpuward_remediator_source_lag_seconds",
                                 "How far a source's newest data lags behind the current time.",
                                 kGauge,
                                 {"source"},
                                 "for a source without such a lag"});
  auto& nodes = declare(
      families, {"gpuward_remediator_source_nodes",
                 "Nodes by their state at the source's last read. For `silent`: `silent` "
                 "(recorded), `share` and `together` (not recorded, because they look like a "
                 "partition), `flapping` (silent three times within a day).",
                 kGauge,
                 {"source", "state"},
                 "for a source that counts no nodes"});
  for (const SourceCounts& source : sources) {
    for (const auto& [state, number] : source.nodes) nodes.add({source.name, state}, number);
    errors.add({source.name}, source.errors);
    read.add({source.name}, source.read);
    findings.add({source.name}, source.findings);
    success.add({source.name}, source.last_success);
    lag.add({source.name}, source.lag);
  }
}

std::string_view word_of(TriageOutcome outcome) {
  switch (outcome) {
    case TriageOutcome::kAnswered:
      return "answered";
    case TriageOutcome::kCached:
      return "cached";
    case TriageOutcome::kNoAnswer:
      return "no_answer";
    case TriageOutcome::kFailed:
      return "failed";
    case TriageOutcome::kLimited:
      return "limited";
    case TriageOutcome::kBreakerOpen:
      return "breaker_open";
    case TriageOutcome::kOverflow:
      break;
  }
  return "overflow";
}

void append_triage(Families& families, const TriageTally& tally) {
  constexpr std::string_view kOff = "while `triage` is off";
  if (!tally.is_on) return;
  auto& lines = declare(
      families, {"gpuward_remediator_triage_lines_total",
                 "Lines that the catalogue does not know, by the language model's result: "
                 "`answered`, `cached` (the same question was answered before), `no_answer` (the "
                 "answer is unusable), `failed` (no answer). Not sent: `limited` (`per_hour`, "
                 "`characters_per_day`), `breaker_open`, `overflow` (200 were waiting).",
                 kCounter,
                 {"outcome"},
                 kOff});
  for (const auto& [outcome, number] : tally.lines) lines.add({word_of(outcome)}, number);
  declare(families,
          {"gpuward_remediator_triage_characters_total",
           "Characters that were sent to the language model.",
           kCounter,
           {},
           kOff},
          tally.characters);
  declare(families,
          {"gpuward_remediator_triage_waiting",
           "Lines that wait for the language model.",
           kGauge,
           {},
           kOff},
          tally.waiting);
  declare(families,
          {"gpuward_remediator_triage_breaker_open",
           "1 while the language model is not queried because it has failed too often.",
           kGauge,
           {},
           kOff},
          tally.is_breaker_open);
}

}  // namespace

Families to_families(const CounterValues& counters, const Standing& standing) {
  Families families;
  append_webhook(families, counters);
  append_reconciler(families, counters);
  append_standing(families, standing);
  append_sources(families, standing.sources);
  append_triage(families, standing.triage);
  metrics::append_build_info(families);
  metrics::append_process(families);
  return families;
}

}  // namespace gpuward::remediator
