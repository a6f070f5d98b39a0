#include "remediator/page/metrics.h"

#include <string>
#include <utility>

#include "core/metrics/process.h"
#include "remediator/page/source_metrics.h"
#include "remediator/page/triage_metrics.h"
#include "remediator/page/waiting_metrics.h"

namespace gpuward::remediator {
namespace {

using metrics::counter;
using metrics::Family;
using metrics::gauge;
using metrics::Sample;
using metrics::Type;

const std::string kPrefix = "gpuward_remediator_";

Family by_label(std::string name, std::string help, const std::string& label,
                const std::map<std::string, std::uint64_t>& values) {
  Family family{std::move(name), std::move(help), Type::kCounter, {}};
  for (const auto& [key, value] : values) {
    family.samples.push_back({{{label, key}}, static_cast<double>(value)});
  }
  return family;
}

double seconds_of(Clock::Wall time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

Family remediations(const Standing& standing) {
  Family family{kPrefix + "remediations",
                "Remediations in the API server, closed ones included",
                Type::kGauge,
                {}};
  for (const ClusterView::Count& count : standing.remediations) {
    family.samples.push_back({{{"phase", std::string(to_string(count.phase))},
                               {"severity", std::string(to_string(count.severity))}},
                              static_cast<double>(count.number)});
  }
  return family;
}

Family oldest_steps(const Standing& standing) {
  Family family{kPrefix + "oldest_step_timestamp_seconds",
                "When the open Remediation that has been longest at its newest step began it",
                Type::kGauge,
                {}};
  for (const ClusterView::Count& count : standing.remediations) {
    if (!count.oldest_step) continue;
    family.samples.push_back({{{"phase", std::string(to_string(count.phase))},
                               {"severity", std::string(to_string(count.severity))}},
                              seconds_of(*count.oldest_step)});
  }
  return family;
}

Family approvals_waiting(const Standing& standing) {
  std::size_t number = 0;
  for (const ClusterView::Count& count : standing.remediations) number += count.unanswered;
  return gauge(kPrefix + "approvals_waiting",
               "Remediations whose next step waits for an approval that nobody has given",
               static_cast<double>(number));
}

Family left_in_service(const Standing& standing) {
  Family family{
      kPrefix + "left_in_service",
      "Nodes that the policy would act on and that a budget or a storm leaves in service, "
      "by its rule",
      Type::kGauge,
      {}};
  auto by_rule = standing.left_in_service;
  for (const char* rule : {"budget.taint", "budget.storm"}) by_rule.try_emplace(rule, 0);
  for (const auto& [rule, nodes] : by_rule)
    family.samples.push_back({{{"rule", rule}}, static_cast<double>(nodes)});
  return family;
}

Family mode_info(Mode mode) {
  return {kPrefix + "mode_info",
          "How far the remediator may go",
          Type::kGauge,
          {Sample{{{"mode", std::string(to_string(mode))}}, 1}}};
}

Family since_fault(const std::map<Milestone, metrics::Histogram>& times) {
  Family family{kPrefix + "fault_age_seconds",
                "How long ago the first alert about the node fired when its Remediation was past "
                "the milestone; each once",
                Type::kHistogram,
                {}};
  for (const auto& [milestone, ages] : times) {
    family.histograms.push_back({{{"milestone", std::string(to_string(milestone))}}, ages});
  }
  return family;
}

Family webhook_requests(const std::map<int, std::uint64_t>& by_code) {
  Family family{kPrefix + "webhook_requests_total",
                "Answers of the webhook's listener, by HTTP status",
                Type::kCounter,
                {}};
  for (const auto& [code, count] : by_code) {
    family.samples.push_back({{{"code", std::to_string(code)}}, static_cast<double>(count)});
  }
  return family;
}

void append_webhook(std::vector<Family>& families, const CounterValues& values) {
  families.push_back(webhook_requests(values.webhook_requests));
  families.push_back(counter(kPrefix + "notifications_total",
                             "Notifications that reached the webhook",
                             static_cast<double>(values.notifications)));
  families.push_back(by_label(kPrefix + "notifications_failed_total",
                              "Notifications that were not answered with 200", "reason",
                              values.notifications_failed));
  families.push_back(by_label(kPrefix + "alerts_total",
                              "Alerts in notifications, by what became of them", "outcome",
                              values.alerts));
  families.push_back(by_label(kPrefix + "alerts_ignored_total",
                              "Alerts of all sources that changed nothing, by why", "reason",
                              values.alerts_ignored));
  families.push_back(counter(kPrefix + "truncated_alerts_total",
                             "Alerts that max_alerts of the Alertmanager has cut off",
                             static_cast<double>(values.truncated_alerts)));
  families.push_back(counter(kPrefix + "webhook_seconds_total",
                             "Time spent on answers; divide by notifications_total",
                             values.webhook_seconds));
  families.push_back(gauge(kPrefix + "webhook_slowest_seconds",
                           "The slowest answer since the start", values.webhook_slowest_seconds));
  if (values.last_notification) {
    families.push_back(gauge(kPrefix + "last_notification_timestamp_seconds",
                             "When the webhook was last called",
                             seconds_of(*values.last_notification)));
  }
}

void append_workflow(std::vector<Family>& families, const CounterValues& values) {
  families.push_back(by_label(kPrefix + "decisions_total", "Decisions that changed a Remediation",
                              "verdict", values.decisions));
  families.push_back(by_label(kPrefix + "actions_total", "Actions carried out on nodes", "action",
                              values.actions));
  families.push_back(by_label(kPrefix + "action_failures_total",
                              "Actions that failed; they are tried again", "action",
                              values.action_failures));
  families.push_back(
      by_label(kPrefix + "errors_total",
               "Failed requests to the API server, and to Prometheus for a health report", "kind",
               values.errors));
  families.push_back(since_fault(values.since_fault));
}

void append_spending(std::vector<Family>& families, const LedgerSlots::Spending& spending) {
  families.push_back(gauge(kPrefix + "breaker_open",
                           "Whether the circuit breaker is open: nothing but taints is begun",
                           spending.breaker.open ? 1 : 0));
  Family slots{kPrefix + "slots", "Slots of the budgets that are taken", Type::kGauge, {}};
  for (const auto& [impact, number] : spending.slots) {
    slots.samples.push_back(
        {{{"harm", std::string(to_string(impact))}}, static_cast<double>(number)});
  }
  families.push_back(std::move(slots));
  Family used{kPrefix + "budget_used", "Nodes that a budget counts now", Type::kGauge, {}};
  Family allowed{kPrefix + "budget_allowed", "Nodes that a budget allows", Type::kGauge, {}};
  for (const BudgetUse& use : spending.uses) {
    const decltype(Sample::labels) labels{{"budget", use.guard}, {"scope", use.where}};
    used.samples.push_back({labels, static_cast<double>(use.used)});
    allowed.samples.push_back({labels, static_cast<double>(use.allowed)});
  }
  families.push_back(std::move(used));
  families.push_back(std::move(allowed));
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

void append_sinks(std::vector<Family>& families, const std::vector<SinkTally>& sinks) {
  Family told{"gpuward_notifications_total",
              "Notifications that have ended at a sink, by how: all but sent are lost",
              Type::kCounter,
              {}};
  Family waiting{"gpuward_notifications_waiting",
                 "Notifications that a sink has not taken yet",
                 Type::kGauge,
                 {}};
  for (const SinkTally& tally : sinks) {
    for (const auto& [delivery, count] : tally.ended) {
      told.samples.push_back({{{"sink", tally.sink}, {"result", std::string(word_of(delivery))}},
                              static_cast<double>(count)});
    }
    waiting.samples.push_back({{{"sink", tally.sink}}, static_cast<double>(tally.waiting)});
  }
  families.push_back(std::move(told));
  families.push_back(std::move(waiting));
}

Family exclusions_until(const ExclusionList& exclusions) {
  Family family{kPrefix + "exclusion_expires_timestamp_seconds",
                "Until when a node or instance is excluded by a human",
                Type::kGauge,
                {}};
  for (const auto& [subject, exclusion] : exclusions) {
    family.samples.push_back({{{"subject", subject}}, seconds_of(exclusion.until)});
  }
  return family;
}

// Known to the replica that acts.
void append_upkeep(std::vector<Family>& families, const Standing& standing) {
  families.push_back(gauge(kPrefix + "ledger_kept",
                           "Whether the ledger of the budgets was read and kept at the last upkeep",
                           standing.ledger_kept ? 1 : 0));
  families.push_back(gauge(kPrefix + "stopped",
                           "Whether the stop switch says stop or cannot be read: no step is begun",
                           standing.stopped ? 1 : 0));
}

void append_standing(std::vector<Family>& families, const Standing& standing) {
  families.push_back(remediations(standing));
  families.push_back(oldest_steps(standing));
  families.push_back(approvals_waiting(standing));
  if (standing.approvals_guarded) {
    families.push_back(gauge(kPrefix + "approvals_guarded",
                             "Whether the API server was last seen to refuse forged approvals",
                             *standing.approvals_guarded ? 1 : 0));
  }
  append_waiting(families, standing.waiting);
  families.push_back(left_in_service(standing));
  families.push_back(mode_info(standing.mode));
  families.push_back(gauge(kPrefix + "leads", "Whether this replica is the one that acts",
                           standing.leads ? 1 : 0));
  if (standing.leads && standing.spending) append_spending(families, *standing.spending);
  if (standing.leads) append_upkeep(families, standing);
  families.push_back(gauge(kPrefix + "queue_length", "Nodes waiting to be looked at",
                           static_cast<double>(standing.queue_length)));
  families.push_back(standing.api_times);
  append_sinks(families, standing.sinks);
  if (standing.leads) families.push_back(exclusions_until(standing.exclusions));
  families.push_back(gauge(kPrefix + "ready",
                           "Whether the cluster is in view and the API server answers",
                           standing.ready ? 1 : 0));
  families.push_back(counter(kPrefix + "events_lost_total",
                             "Kubernetes Events that could not be written",
                             static_cast<double>(standing.events_lost)));
  families.push_back(counter(kPrefix + "audit_lines_lost_total",
                             "Audit lines that could not be written",
                             static_cast<double>(standing.audit_lines_lost)));
  families.push_back(gauge("gpuward_config_last_reload_successful",
                           "Whether the policy file was good when it was last read",
                           standing.last_reload_good ? 1 : 0));
  if (standing.last_good_reload) {
    families.push_back(gauge("gpuward_config_last_reload_success_timestamp_seconds",
                             "When the policy in force was read",
                             seconds_of(*standing.last_good_reload)));
  }
}

}  // namespace

std::vector<Family> to_families(const CounterValues& counters, const Standing& standing) {
  std::vector<Family> families;
  append_webhook(families, counters);
  append_workflow(families, counters);
  append_standing(families, standing);
  append_sources(families, standing.sources);
  append_triage(families, standing.triage);
  families.push_back(metrics::build_info());
  metrics::append_process(families);
  return families;
}

}  // namespace gpuward::remediator
