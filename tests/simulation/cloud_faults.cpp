#include "tests/simulation/cloud_faults.h"

#include <array>

namespace gpuward::remediator::simulation {
namespace {

constexpr int kMostLateCalls = 2;  // in the quiet time, which has to end

}  // namespace

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

CloudFaults::CloudFaults(Stage& stage, Meanwhile meanwhile)
    : stage_(stage), meanwhile_(std::move(meanwhile)), is_drawn_(stage.cloud_chance.happens(0.5)) {}

void CloudFaults::before_call(const remediator::Machine& order) {
  Chance& lead = stage_.lead_chance;
  const bool may_lose_lead = !stage_.is_quiet && stage_.setting.replicas > 1;
  if (may_lose_lead && lead.happens(0.3)) meanwhile_(lead.span(seconds(18), seconds(40)));
  if (!is_on()) return;
  Chance& chance = stage_.cloud_chance;
  if (chance.happens(0.1)) meanwhile_(chance.span(seconds(1), seconds(60)));
  if (chance.happens(0.1)) forbid(order);
}

void CloudFaults::forbid(const remediator::Machine& order) {
  switch (stage_.cloud_chance.weighted({30, 20, 20, 20, 10})) {
    case 0:
      stage_.trace.say("human: pause " + order.remediation + " at the last moment");
      return stage_.annotate_remediation(order.remediation,
                                         {{std::string(kPauseAnnotation), "true"}});
    case 1:
      stage_.trace.say("human: cancel " + order.remediation + " at the last moment");
      return stage_.annotate_remediation(order.remediation,
                                         {{std::string(kCancelAnnotation), "true"}});
    case 2:
      if (stage_.truth.node(order.node) == nullptr) return;
      stage_.trace.say("human: managed=false " + order.node + " at the last moment");
      return stage_.patch_node(order.node,
                               {{"metadata", {{"labels", {{"gpuward.dev/managed", "false"}}}}}});
    case 3: {
      stage_.trace.say("human: mode observe at the last moment");
      Policy policy = *stage_.meant.get();
      policy.mode = Mode::kObserve;
      return stage_.set_policy(std::move(policy));
    }
    default:
      stage_.trace.say("human: stop at the last moment");
      if (!stage_.stopped_at) stage_.turn_switch(true);
  }
}

CallFault CloudFaults::of_call() {
  if (stage_.is_quiet) {
    const bool is_late = stage_.setting.has_late_races && late_calls_ < kMostLateCalls &&
                         stage_.races_chance.happens(0.5);
    if (is_late) ++late_calls_;
    return is_late ? CallFault::kLate : CallFault::kNone;
  }
  if (!is_on()) return CallFault::kNone;
  Chance& chance = stage_.cloud_chance;
  if (chance.happens(0.15)) meanwhile_(chance.span(seconds(5), seconds(90)));
  return std::array{CallFault::kNone, CallFault::kRefused, CallFault::kDiesBefore,
                    CallFault::kDiesAfter, CallFault::kLate}[chance.weighted({50, 15, 8, 8, 19})];
}

milliseconds CloudFaults::lateness() { return stage_.cloud_chance.span(seconds(10), minutes(4)); }

void CloudFaults::begin_to_lag(const std::string& provider_id) {
  if (!is_on()) return;
  lag_ends_.try_emplace(provider_id,
                        stage_.clock.steady() + stage_.cloud_chance.span(seconds(0), minutes(5)));
}

bool CloudFaults::lags(const std::string& provider_id) {
  const auto end = lag_ends_.find(provider_id);
  return is_on() && end != lag_ends_.end() && stage_.clock.steady() < end->second &&
         stage_.cloud_chance.happens(0.6);
}

}  // namespace gpuward::remediator::simulation
