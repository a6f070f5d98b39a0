#include "remediator/act/actions/pair_round.h"

#include <algorithm>
#include <span>

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostMembers = 64;  // Further nodes wait for the next round.

}  // namespace

const StepRecord* pairs_record(const Remediation& remediation) {
  return remediation.status.find(Step::kNcclPairs);
}

WallTime pairs_intent_of(const Remediation& remediation) {
  const StepRecord* record = pairs_record(remediation);
  return record == nullptr ? WallTime() : record->intent_at.value_or(WallTime());
}

bool is_tested(const std::vector<PairTest>& tests, const std::string& node) {
  return std::ranges::any_of(tests, [&](const PairTest& test) { return test.has(node); });
}

const JobPeer* PairRound::find(const std::string& node) const {
  const auto found = std::ranges::find_if(
      group.there, [&](const JobPeer& one) { return one.remediation.node == node; });
  return found == group.there.end() ? nullptr : &*found;
}

const JobPeer* PairRound::leader() const {
  const auto found = std::ranges::find_if(group.there, [](const JobPeer& one) {
    return pairs_record(one.remediation)->facts.contains(kPairTestsFact);
  });
  return found == group.there.end() ? nullptr : &*found;
}

std::vector<std::string> PairRound::members() const {
  std::vector<std::string> nodes;
  for (const bool is_in_already : {true, false}) {
    for (const JobPeer& one : group.there) {
      if (is_tested(tests, one.remediation.node) == is_in_already && nodes.size() < kMostMembers)
        nodes.push_back(one.remediation.node);
    }
  }
  std::ranges::sort(nodes);
  return nodes;
}

bool PairRound::is_read_by_all(const std::string& leader, const PairFindings& told) const {
  return std::ranges::none_of(group.there, [&](const JobPeer& one) {
    return one.remediation.name != leader && told.contains(one.remediation.node);
  });
}

bool PairRound::is_alone() const { return group.there.size() == 1 && group.coming.empty(); }

std::vector<std::string> PairRound::all_tested() const {
  std::set<std::string> nodes;
  for (const PairTest& test : tests) nodes.insert({test.first, test.second});
  for (const std::string& node : members()) nodes.insert(node);
  return {nodes.begin(), nodes.end()};
}

PairRound look_around(const StepRequest& request, const SeenRemediations& seen_by_all,
                      const std::shared_ptr<const Policy>& policy) {
  PairRound round;
  JobPeer own{.remediation = request.remediation,
              .node = std::make_shared<const kube::Node>(request.node)};
  for (StepRecord& record : own.remediation.status.steps) {
    if (record.step == Step::kNcclPairs) record.facts = request.facts;
  }
  seen_by_all.with_seen([&](std::span<const SeenRemediation> seen) {
    round.group = peers_of(own, seen, request.step.job.together, policy);
    for (const SeenRemediation& one : seen) {
      const StepRecord* record = pairs_record(one.remediation);
      // A closed Remediation has no running Jobs, because a Remediation ends its Jobs before it is
      // closed.
      const bool may_lead = record != nullptr && one.remediation.open();
      if (!may_lead || one.remediation.name == request.remediation.name) continue;
      for (const PairTest& test : pair_tests_in(record->facts)) {
        const bool may_run =
            test.result == PairResult::kRunning && request.now - test.since < kLongestPairTest;
        if (may_run) round.busy.insert({test.first, test.second});
      }
    }
  });
  round.tests = pair_tests_in(request.facts);
  // Removes findings from another boot, and findings from before a node came to the step again.
  std::erase_if(round.tests, [&](const PairTest& test) {
    return std::ranges::any_of(round.group.there, [&](const JobPeer& one) {
      return test.result != PairResult::kRunning && test.has(one.remediation.node) &&
             test.since < pairs_intent_of(one.remediation);
    });
  });
  return round;
}

}  // namespace gpuward::remediator
