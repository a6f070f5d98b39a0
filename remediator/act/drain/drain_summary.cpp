#include "remediator/act/drain/drain_summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostNames = 10;
constexpr std::size_t kLongestMessage = 200;

// In the order of the line, in which pods are also named.
enum class LeftAs : std::uint8_t {
  kFailed,
  kRefused,
  kBlocked,
  kWaits,
  kStays,
  kOverdue,
  kStopped,
  kTerminating,
  kToGo,
  kLater,
  kSelf
};
constexpr std::array<std::string_view, 11> kWords{"not evicted",
                                                  "with more than one disruption budget",
                                                  "blocked by a disruption budget",
                                                  "allowed to finish",
                                                  "not to be evicted",
                                                  "terminating past their grace period",
                                                  "held back",
                                                  "terminating",
                                                  "to be evicted",
                                                  "to be evicted after the others",
                                                  "the remediator itself, which is evicted last"};

LeftAs left_as_answered(const LeftPod& left) {
  switch (left.known.answer) {
    case RemovalAnswer::kBlocked:
      return LeftAs::kBlocked;
    case RemovalAnswer::kRefused:
      return LeftAs::kRefused;
    case RemovalAnswer::kFailed:
      return LeftAs::kFailed;
    case RemovalAnswer::kStopped:
      return LeftAs::kStopped;
    case RemovalAnswer::kAccepted:
      return LeftAs::kTerminating;
    case RemovalAnswer::kNone:
    case RemovalAnswer::kGone:
    case RemovalAnswer::kOverloaded:
      break;
  }
  if (!left.is_later) return LeftAs::kToGo;
  return left.pod.wave == DrainWave::kSelf ? LeftAs::kSelf : LeftAs::kLater;
}

LeftAs left_as(const LeftPod& left) {
  if (left.pod.act == DrainAct::kWait) return LeftAs::kWaits;
  if (left.pod.act == DrainAct::kKeep) return LeftAs::kStays;
  if (left.pod.act != DrainAct::kTerminating) return left_as_answered(left);
  return left.is_overdue ? LeftAs::kOverdue : LeftAs::kTerminating;
}

// "The disruption budget web-pdb needs 1 healthy pods and has 1 currently" (eviction.go)
std::string budget_in(std::string_view message) {
  constexpr std::string_view kBefore = "The disruption budget ";
  const auto at = message.find(kBefore);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kBefore.size());
  return std::string(message.substr(0, message.find(' ')));
}

// The reason why the pod is left, as precisely as possible.
std::string words_for(const LeftPod& left, LeftAs as) {
  const std::string words(kWords.at(static_cast<std::size_t>(as)));
  std::string remark;
  if (as == LeftAs::kBlocked) {
    const std::string budget = budget_in(left.known.message);
    return budget.empty() ? words : "blocked by disruption budget " + budget;
  }
  if (as == LeftAs::kWaits || as == LeftAs::kStays) remark = left.pod.reason;
  if (as == LeftAs::kFailed || as == LeftAs::kStopped)
    remark = to_valid_utf8(left.known.message, kLongestMessage);
  return remark.empty() ? words : words + " (" + remark + ")";
}

struct Group {
  LeftAs as = LeftAs::kToGo;
  std::string words;
  std::size_t count = 0;
  std::vector<std::string> names;  // of the first ones
};

// A pod that is not named does not need its own words.
Group& group_of(std::vector<Group>& groups, const LeftPod& left, LeftAs as, bool is_named) {
  const std::string words = words_for(left, as);
  const auto is_same = [&](const Group& group) {
    return group.as == as && (group.words == words || (!is_named && group.names.empty()));
  };
  const auto known = std::ranges::find_if(groups, is_same);
  if (known != groups.end()) return *known;
  const std::string_view plain = kWords.at(static_cast<std::size_t>(as));
  groups.push_back({.as = as, .words = is_named ? words : std::string(plain), .names = {}});
  return groups.back();
}

std::vector<Group> groups_of(const std::vector<LeftPod>& left) {
  std::multimap<LeftAs, const LeftPod*> sorted;  // of one kind in the given order
  for (const LeftPod& pod : left) sorted.emplace(left_as(pod), &pod);
  std::vector<Group> groups;
  std::size_t named = 0;
  for (const auto& [as, pod] : sorted) {
    const bool is_named = named++ < kMostNames;
    Group& group = group_of(groups, *pod, as, is_named);
    ++group.count;
    if (is_named) group.names.push_back(pod->pod.full_name());
  }
  return groups;
}

std::string count_pods(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

}  // namespace

std::string describe_left(const std::vector<LeftPod>& left) {
  std::string text = count_pods(left.size()) + " left";
  std::string_view before = ": ";
  for (const Group& group : groups_of(left)) {
    text += std::string(before) + std::to_string(group.count) + " " + group.words;
    if (!group.names.empty()) text += ": " + list_first(group.names, group.count);
    before = "; ";
  }
  return text;
}

std::string describe_refused(const std::vector<const PlannedPod*>& refused) {
  std::vector<std::string> names;
  for (const PlannedPod* const pod : refused) {
    if (names.size() < kMostNames) names.push_back(pod->full_name() + " (" + pod->reason + ")");
  }
  return "no pod was evicted, because of " + count_pods(refused.size()) +
         " that cannot be evicted: " + list_first(names, refused.size());
}

std::string names_that_stay(const DrainPlan& plan) {
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const PlannedPod& pod : plan.pods) {
    if (pod.reason != kToleratesReason) continue;
    if (++count <= kMostNames) names.push_back(pod.full_name());
  }
  return list_first(names, count);
}

std::string describe_done(const DrainPlan& plan) {
  std::map<std::string_view, std::size_t> stay;
  for (const PlannedPod& pod : plan.pods) ++stay[pod.reason];
  std::string text = "drained";
  if (plan.pods.empty()) return text;
  text += "; " + count_pods(plan.pods.size()) + (plan.pods.size() == 1 ? " stays" : " stay");
  std::string_view before = ": ";
  for (const auto& [reason, count] : stay) {
    text += std::string(before) + std::to_string(count) + " " + std::string(reason);
    if (reason == kToleratesReason) text += " (" + names_that_stay(plan) + ")";
    before = ", ";
  }
  return text;
}

}  // namespace gpuward::remediator
