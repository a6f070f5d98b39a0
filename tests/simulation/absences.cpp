#include "tests/simulation/absences.h"

namespace gpuward::remediator::simulation {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

namespace {

constexpr double kHasAny = 0.2, kBegins = 0.02, kKeepsFew = 0.2;
// The longest limit of a step is the deadline of a drain, half an hour.
constexpr minutes kShortest{35}, kLongest{120};

}  // namespace

void let_time_pass(Setting& setting, Chance& chance) {
  setting.has_absences = chance.happens(kHasAny);
  if (!chance.happens(kKeepsFew)) return;
  setting.policy.retention.most = chance.between(0, 3);
  if (chance.happens(0.3)) setting.policy.retention.age = hours(2);
}

void Absences::do_something() {
  Chance& chance = stage_.absences_chance;
  if (!stage_.setting.has_absences || stage_.stopped_at || !chance.happens(kBegins)) return;
  const milliseconds span = chance.span(kShortest, kLongest);
  if (chance.happens(0.5)) return nobody_runs(span);
  all_is_stopped(span);
}

void Absences::nobody_runs(milliseconds span) {
  stage_.trace.say("no replica runs any more");
  const Clock::Steady end = stage_.clock.steady() + span;
  while (stage_.clock.steady() < end) world_.pass_a_while();
  stage_.trace.say("replicas run again");
  world_.start_all();
}

void Absences::all_is_stopped(milliseconds span) {
  stage_.trace.say("human: stop, for long");
  stage_.turn_switch(true);
  const Clock::Steady end = stage_.clock.steady() + span;
  while (stage_.clock.steady() < end) {
    world_.pass_a_while();
    world_.look();
  }
  stage_.turn_switch(false);
  stage_.trace.say("human: start");
}

}  // namespace gpuward::remediator::simulation
