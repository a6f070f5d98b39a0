// The state of an alert in Prometheus by the results of its expression: `for`, `keep_firing_for`,
// the resend delay and the waits that a restart forgets (rules/alerting.go and rules/group.go of
// Prometheus 2.42; 3.16 forgets fewer, and so sends fewer notifications). rule_state_test.cpp
// compares it with promtool.
#pragma once

#include "tests/alerts/month/moments.h"

namespace gpuward::alerts {

struct RuleTimes {
  seconds hold{}, keep{};  // `for` and `keep_firing_for`
};

// When Prometheus evaluates a group of rules: each `step`, but not while it is down.
struct Evaluations {
  seconds step{}, end{};
  std::vector<Span> outages = {};  // in order
  seconds resend_delay{60};        // --rules.alert.resend-delay
};

// `active`: the evaluations at which the expression had this alert as a result, in order.
[[nodiscard]] std::vector<Span> firing_spans(const std::vector<seconds>& active,
                                             const RuleTimes& times,
                                             const Evaluations& evaluations);

}  // namespace gpuward::alerts
