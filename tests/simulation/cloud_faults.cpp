#include "tests/simulation/cloud_faults.h"

#include <array>

namespace gpuward::remediator::simulation {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

CloudFaults::CloudFaults(Stage& stage, Meanwhile meanwhile)
    : stage_(stage), meanwhile_(std::move(meanwhile)), is_drawn_(stage.cloud_chance.happens(0.5)) {}

CallFault CloudFaults::of_call() {
  if (!is_on()) return CallFault::kNone;
  Chance& chance = stage_.cloud_chance;
  if (chance.happens(0.15)) meanwhile_(chance.span(seconds(5), seconds(90)));
  return std::array{CallFault::kNone, CallFault::kRefused, CallFault::kDiesBefore,
                    CallFault::kDiesAfter, CallFault::kLate}[chance.weighted({60, 15, 8, 8, 9})];
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
