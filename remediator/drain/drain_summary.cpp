#include "remediator/drain/drain_summary.h"

#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostNames = 10;
constexpr std::size_t kLongestMessage = 200;

// In the order in which they stand in the line; those from kBlocked on are named.
enum class LeftAs : std::uint8_t {
  kToGo,
  kTerminating,
  kStopped,
  kBlocked,
  kRefused,
  kFailed,
  kWaits
};
constexpr std::array<std::pair<LeftAs, std::string_view>, 7> kWords{{
    {LeftAs::kToGo, "to be evicted"},
    {LeftAs::kTerminating, "terminating"},
    {LeftAs::kStopped, "held back"},
    {LeftAs::kBlocked, "blocked by a disruption budget"},
    {LeftAs::kRefused, "with more than one disruption budget"},
    {LeftAs::kFailed, "not evicted"},
    {LeftAs::kWaits, "waiting"},
}};

LeftAs left_as(const PlannedPod& pod, const RemovalTry* known) {
  if (pod.act == DrainAct::kTerminating) return LeftAs::kTerminating;
  if (pod.act == DrainAct::kWait) return LeftAs::kWaits;
  if (known == nullptr) return LeftAs::kToGo;
  switch (known->answer) {
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
  return LeftAs::kToGo;
}

// "The disruption budget web-pdb needs 1 healthy pods and has 1 currently" (eviction.go)
std::string budget_in(std::string_view message) {
  constexpr std::string_view kBefore = "The disruption budget ";
  const auto at = message.find(kBefore);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kBefore.size());
  return std::string(message.substr(0, message.find(' ')));
}

std::string remark_on(const PlannedPod& pod, LeftAs as, const RemovalTry* known) {
  if (as == LeftAs::kBlocked) return budget_in(known->message);
  if (as == LeftAs::kFailed) return to_valid_utf8(known->message, kLongestMessage);
  return as == LeftAs::kWaits ? pod.reason : std::string();
}

struct Group {
  std::size_t count = 0;
  std::vector<std::string> names;  // with a remark, the first ones
};

void add_to(Group& group, const PlannedPod& pod, const std::string& remark) {
  if (++group.count > kMostNames) return;
  group.names.push_back(pod.full_name() + (remark.empty() ? "" : " (" + remark + ")"));
}

std::string count_pods(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " pod" : " pods");
}

}  // namespace

std::string describe_left(const std::vector<const PlannedPod*>& left, const RemovalTries& tries) {
  std::map<LeftAs, Group> groups;
  std::string hindrance;
  for (const PlannedPod* const pod : left) {
    const auto found = tries.find(pod->uid);
    const RemovalTry* const known = found == tries.end() ? nullptr : &found->second;
    const LeftAs as = left_as(*pod, known);
    if (as == LeftAs::kStopped)
      hindrance = " (" + to_valid_utf8(known->message, kLongestMessage) + ")";
    add_to(groups[as], *pod, remark_on(*pod, as, known));
  }
  std::string text = count_pods(left.size()) + " left";
  std::string_view before = ": ";
  for (const auto& [as, word] : kWords) {
    const auto group = groups.find(as);
    if (group == groups.end()) continue;
    text += std::string(before) + std::to_string(group->second.count) + " " + std::string(word);
    if (as == LeftAs::kStopped) text += hindrance;
    if (as >= LeftAs::kBlocked) text += ": " + list_first(group->second.names, group->second.count);
    before = as >= LeftAs::kBlocked ? "; " : ", ";
  }
  return text;
}

std::string describe_refused(const std::vector<const PlannedPod*>& refused) {
  Group group;
  for (const PlannedPod* const pod : refused) add_to(group, *pod, pod->reason);
  return "no pod was evicted, because of " + std::to_string(group.count) + ": " +
         list_first(group.names, group.count);
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
    before = ", ";
  }
  return text;
}

}  // namespace gpuward::remediator
