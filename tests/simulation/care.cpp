#include "tests/simulation/care.h"

#include <algorithm>

#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/exclusions_json.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const std::string kList = kConfigMaps + "/" + kExclusionMap;
const std::string kWindow = "nights";

// The window opens now and then within the hours that a simulation lasts.
MaintenanceWindow draw_window(Chance& chance) {
  MaintenanceWindow window;
  window.name = kWindow;
  window.utc_offset = minutes(60 * chance.between(-12, 14));
  window.start = minutes(chance.between(0, 24 * 60 - 1));
  window.duration = chance.span(hours(3), hours(20));
  return window;
}

void wait_for_windows(std::vector<PlannedStep>& plan, Chance& chance) {
  for (PlannedStep& step : plan) {
    if (is_disruptive(step.step) && chance.happens(0.4)) step.before.window = kWindow;
  }
}

// A pool with another mode, other plans, or both.
PoolPolicy draw_pool(int number, const Setting& setting, Chance& chance) {
  PoolPolicy pool;
  pool.name = "p" + std::to_string(number);
  pool.labels = {"eks.amazonaws.com/nodegroup=pool-" + std::to_string(number)};
  Policy other = draw_policy(chance);
  if (chance.happens(0.6)) pool.mode = chance.one_of({Mode::kTaint, Mode::kCordon, Mode::kFull});
  if (!setting.has_jobs && chance.happens(0.6)) pool.steps = std::move(other.steps);
  for (auto& [severity, plan] : pool.steps) {
    for (PlannedStep& step : plan) step.pool = pool.name;
  }
  return pool;
}

void draw_shares(Setting& setting, Chance& chance) {
  BudgetLimits& budgets = setting.policy.budgets;
  const auto percent = [&](Share& share) {
    if (chance.happens(0.5)) share = {1, static_cast<double>(chance.between(10, 60))};
  };
  percent(budgets.cluster.at_once);
  percent(budgets.pool.at_once);
  percent(budgets.cordoned);
  if (chance.happens(0.5)) budgets.min_healthy = {chance.between(0, 2), 50};
  if (!chance.happens(0.4)) return;
  const int number = chance.between(0, 1);
  PoolLimits limits = budgets.in_pool("");
  limits.disrupted.at_once = {chance.between(1, 3), 0};
  percent(limits.cordoned);
  if (chance.happens(0.5)) limits.min_healthy = {chance.between(0, 2), 30};
  budgets.own_pools = {
      {{"own", {"eks.amazonaws.com/nodegroup=pool-" + std::to_string(number)}}, limits}};
}

}  // namespace

void put_care(Policy& policy, const Setting& setting, Chance& chance) {
  const TakenCare& care = setting.care;
  if (care.rests) policy.cooldown = chance.one_of({minutes(0), minutes(60), minutes(150)});
  if (care.pools) {
    policy.pools.clear();
    if (chance.happens(0.8)) policy.pools.push_back(draw_pool(1, setting, chance));
    if (chance.happens(0.3)) policy.pools.push_back(draw_pool(0, setting, chance));
  }
  if (!care.windows) return;
  policy.windows = {draw_window(chance)};
  for (auto& [severity, plan] : policy.steps) wait_for_windows(plan, chance);
  for (PoolPolicy& pool : policy.pools) {
    for (auto& [severity, plan] : pool.steps) wait_for_windows(plan, chance);
  }
}

void let_people_take_care(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 16 || !chance.happens(0.3)) return;
  TakenCare& care = setting.care;
  care.excludes = chance.happens(0.5);
  care.windows = chance.happens(0.3);
  care.pools = chance.happens(0.4);
  care.rests = chance.happens(0.4);
  care.notifies = chance.happens(0.5);
  put_care(setting.policy, setting, chance);
  if (care.rests && chance.happens(0.6)) {  // repaired machines return, and break again
    setting.breaks_again = true;
    setting.policy.mode = Mode::kFull;
    setting.policy.return_to_service.enabled = true;
  }
  if (chance.happens(0.4)) draw_shares(setting, chance);
  if (care.notifies) {
    SinkSettings& sink = setting.policy.notifications.sinks.emplace_back();
    sink.name = "oncall";
    sink.moments.insert(Moment::kStep);
  }
}

ExclusionList exclusions_in(const Json& config_map) {
  const Json& data = member_at(config_map, "data");
  return decode_exclusions(data.is_object() ? data.get<ConfigMapData>() : ConfigMapData());
}

void Care::do_something() {
  if (!stage_.setting.care.excludes) return;
  Chance& chance = stage_.care_chance;
  switch (chance.weighted({90, 6, 3, 1})) {
    case 0:
      return;
    case 1:
      return exclude();
    case 2: {
      ExclusionList list = stage_.exclusions.list();
      if (stage_.exclusions.is_deleted() || list.empty()) return;
      const auto which =
          std::next(list.begin(), chance.between(0, static_cast<int>(list.size()) - 1));
      stage_.trace.say("human: no longer excluded: " + which->first);
      list.erase(which);
      return write(list);
    }
    default:
      return remove_list();
  }
}

void Care::exclude() {
  Chance& chance = stage_.care_chance;
  if (stage_.truth.nodes().empty()) return;
  const int which = chance.between(0, static_cast<int>(stage_.truth.nodes().size()) - 1);
  const kube::Node node = std::next(stage_.truth.nodes().begin(), which)->second.node;
  const bool is_by_machine = chance.happens(0.3);
  const std::string subject =
      is_by_machine ? node.provider_id.substr(node.provider_id.rfind('/') + 1) : node.meta.name;
  ExclusionList list = stage_.exclusions.is_deleted() ? ExclusionList() : stage_.exclusions.list();
  const WallTime now = std::chrono::floor<std::chrono::seconds>(stage_.clock.wall());
  list[subject] = {
      .since = now,
      .until = now + std::chrono::ceil<std::chrono::seconds>(chance.span(minutes(2), hours(2))),
      .reason = "firmware",
      .by = "alice"};
  stage_.trace.say("human: excluded for a while: " + subject);
  write(list);
}

void Care::write(const ExclusionList& list) {
  if (stage_.kube.has(kList)) stage_.kube.remove(kList);
  stage_.kube.create(kConfigMaps, {{"apiVersion", "v1"},
                                   {"kind", "ConfigMap"},
                                   {"metadata", {{"name", kExclusionMap}}},
                                   {"data", encode_exclusions(list)}});
  stage_.exclusions.put(&list, stage_.say_now());
}

void Care::remove_list() {
  if (!stage_.kube.has(kList)) return;
  stage_.trace.say("human: the list of exclusions is deleted");
  stage_.kube.remove(kList);
  stage_.exclusions.put(nullptr, stage_.say_now());
}

void Care::stop() {
  if (stage_.setting.care.excludes) write({});
  if (!stage_.setting.care.windows) return;
  Policy policy = *stage_.meant.get();
  MaintenanceWindow& always = policy.windows.front();
  always.start = always.utc_offset = minutes(0);
  always.duration = hours(24);
  stage_.set_policy(std::move(policy));
}

}  // namespace gpuward::remediator::simulation
