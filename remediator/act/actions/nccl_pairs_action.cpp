#include "remediator/act/actions/nccl_pairs_action.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/encoding.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kPairInterval{3};        // Interval of checks by the leader and the other nodes.
constexpr std::size_t kMostWaitedFor = 8;  // Limit for the nodes that a message names.
// How long the leader stays at the step after all results are known, so that the other nodes can
// read the results.
constexpr minutes kLastWords{2};
// How much longer the other nodes wait than the leader's time. At the end of that time the leader
// publishes the results so far.
constexpr minutes kFollowersGrace{1};
constexpr std::size_t kTokenDigits = 32;  // 128 bits.
constexpr const char* kFindingsAtFact = "pairVerdictsAt";
constexpr const char* kAllIsKnown =
    "all results are known; waiting for the other nodes to read them";

bool is_overdue(const StepRequest& request) { return request.ran > request.step.timeout; }

StepProgress pairs_running(const StepRequest& request, std::string message) {
  StepProgress progress = progress_of(request, StepResult::kRunning, std::move(message));
  progress.look_again = kPairInterval;
  return progress;
}

// Returns whether the Remediation waits for a slot of a budget. This node may itself hold that
// slot.
bool waits_for_budget(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  return status.phase == Phase::kWaiting && status.rule.starts_with("budget.");
}

std::string nodes_text(const std::vector<JobPeer>& peers) {
  std::vector<std::string> first;
  for (const JobPeer& one : peers | std::views::take(kMostWaitedFor)) {
    const RemediationStatus& status = one.remediation.status;
    const std::string rule = waits_for_budget(one.remediation) ? ", " + status.rule : "";
    first.push_back(one.remediation.node + " (" + std::string(to_string(status.phase)) + rule +
                    ")");
  }
  return list_first(first, peers.size());
}

// Returns advice about the budget; empty if no node in `coming` waits for a budget.
std::string budget_advice(const std::vector<JobPeer>& coming) {
  const bool is_short = std::ranges::any_of(
      coming, [](const JobPeer& one) { return waits_for_budget(one.remediation); });
  return is_short ? "; this node keeps its slot. The budget must allow all nodes that are tested "
                    "together to hold a slot at once, at least 2"
                  : "";
}

std::optional<WallTime> findings_at(const Facts& facts) {
  return parse_rfc3339(value_at(facts, kFindingsAtFact));
}

// Returns whether a test of the node has passed or failed.
bool is_decided(const std::vector<PairTest>& tests, const std::string& node) {
  return std::ranges::any_of(tests, [&](const PairTest& test) {
    return test.has(node) &&
           (test.result == PairResult::kPassed || test.result == PairResult::kFailed);
  });
}

std::string failure_text_of(const PairTest& test) {
  return "NCCL fails between " + test.first + " and " + test.second +
         (test.words.empty() ? "" : ": " + test.words);
}

StepProgress pairs_ended(const StepRequest& request, PairFinding verdict,
                         const std::vector<PairTest>& tests) {
  std::string words = pair_words(request.remediation.node, verdict, tests);
  if (verdict == PairFinding::kGood)
    return progress_of(request, StepResult::kDone, std::move(words));
  return failed_for_operator(request, std::move(words));
}

}  // namespace

Facts NcclPairsAction::facts_before(const kube::Node& node) const {
  return {{kJobNamespaceFact, policy_.get()->jobs.ns}, {kJobBootFact, node.boot_id}};
}

Result<StepProgress> NcclPairsAction::watch(const StepRequest& request) {
  if (pairs_record(request.remediation) == nullptr)
    return fail(ErrorKind::kInternal, "the Remediation has no record of the step nccl-pairs");
  if (request.node.boot_id.empty() || request.node.boot_id != fact_of(request, kJobBootFact)) {
    const auto down = step_down(request);
    if (!down) return down;
    return failed_for_operator({.remediation = request.remediation,
                                .node = request.node,
                                .step = request.step,
                                .facts = down->facts,
                                .permit = request.permit,
                                .now = request.now,
                                .ran = request.ran},
                               "the node has restarted since the step began");
  }
  PairRound round = look_around(request, seen_, policy_.get());
  if (auto told = finding_of_others(request, round)) return *std::move(told);
  const JobPeer* const leader = round.leader();
  if (leader == nullptr) return gather(request, round);
  if (leader->remediation.name == request.remediation.name) return lead(request, round);
  if (request.facts.contains(kPairTestsFact)) return step_down(request);
  const std::string what =
      leader->remediation.node + " leads the tests of the nodes that failed together";
  // The leader may have come later, so its running time decides. No node waits longer than twice
  // the step's time.
  const seconds leader_ran(pairs_record(leader->remediation)->active_seconds);
  if (leader_ran > request.step.timeout + kFollowersGrace || request.ran > 2 * request.step.timeout)
    return failed_for_operator(request, "not done in time: " + what);
  return pairs_running(request, what);
}

// Returns the result for this node since it came to the step, read from the record of a node that
// led the tests. The leader may since have continued, been taken out of the group, or been closed.
std::optional<StepProgress> NcclPairsAction::finding_of_others(const StepRequest& request,
                                                               const PairRound& round) {
  for (const auto* peers : {&round.group.there, &round.group.out}) {
    for (const JobPeer& one : *peers) {
      const StepRecord* record = pairs_record(one.remediation);
      if (record == nullptr || one.remediation.name == request.remediation.name) continue;
      const auto verdicts = pair_findings_in(record->facts);
      const auto own = verdicts.find(request.remediation.node);
      const auto at = findings_at(record->facts);
      if (own == verdicts.end() || !at || *at < pairs_intent_of(request.remediation)) continue;
      return pairs_ended(request, own->second, pair_tests_in(record->facts));
    }
  }
  return std::nullopt;
}

// Returns the result for a node without partners. The node passes if it failed alone, or if its own
// diagnostics took out every other node. A node that was tested without this node, or that an
// operator took out, proves nothing.
StepProgress NcclPairsAction::alone(const StepRequest& request, const PairRound& round) {
  const std::vector<JobPeer>& out = round.group.out;
  const bool are_all_found = std::ranges::all_of(
      out, [](const JobPeer& one) { return is_out_by_own_diagnostics(one.remediation); });
  const std::string others = nodes_text(out) + ", which failed at the same time,";
  StepProgress progress =
      are_all_found
          ? progress_of(request, StepResult::kDone,
                        out.empty() ? "no other node failed at the same time"
                                    : others + " failed their own diagnostics")
          : failed_for_operator(request, "cannot tell whether this node is the culprit: " + others +
                                             " cannot be tested with this node");
  if (!round.tests.empty()) progress.facts[kPairTestsFact] = pair_tests_text(round.tests);
  progress.news = round.news;
  return progress;
}

// Waits for the nodes on their way to the step, before a leader exists. The wait lasts at most half
// of the step's time, because the tests need the other half.
Result<StepProgress> NcclPairsAction::gather(const StepRequest& request, PairRound& round) {
  const PeerGroup& group = round.group;
  if (round.is_alone()) return alone(request, round);
  const bool has_another = group.there.size() > 1;
  const std::string waits =
      has_another && group.coming.empty()
          ? "waiting for " + group.there.front().remediation.node + " to lead"
          : "waiting for " + nodes_text(group.coming) + budget_advice(group.coming);
  if (is_overdue(request)) return failed_for_operator(request, "not done in time: " + waits);
  const bool is_first = group.there.front().remediation.name == request.remediation.name;
  const bool is_time = group.coming.empty() || request.ran > request.step.timeout / 2;
  if (!has_another || !is_time || !is_first) return pairs_running(request, waits);
  return begin_next(request, round);
}

Result<StepProgress> NcclPairsAction::lead(const StepRequest& request, PairRound& round) {
  const auto told = pair_findings_in(request.facts);
  if (const auto own = told.find(request.remediation.node); own != told.end()) {
    const auto at = findings_at(request.facts);
    const bool is_late = !at || request.now - *at > kLastWords;
    if (is_late || round.is_read_by_all(request.remediation.name, told))
      return pairs_ended(request, own->second, round.tests);
    return pairs_running(request, kAllIsKnown);
  }
  if (auto advanced = advance(request, round); !advanced) {
    if (advanced.error().kind != ErrorKind::kCancelled) return std::unexpected(advanced.error());
    return pairs_running(request, "waits: " + advanced.error().message);
  }
  if (round.is_alone() && !is_decided(round.tests, request.remediation.node))
    return alone(request, round);
  return begin_next(request, round);
}

// Continues all tests that have begun. Returns kCancelled if no Job may be created now.
Status NcclPairsAction::advance(const StepRequest& request, PairRound& round) {
  for (PairTest& test : round.tests) {
    if (test.result != PairResult::kRunning) continue;
    if (auto moved = go_on(request, round, test); !moved) {
      if (!is_final(moved.error().kind)) return moved;
      // Ends the round, because all other tests would fail in the same way. No node returns to
      // service by a test that cannot run.
      cut_off(request, test, moved.error().message);
      round.is_over = true;
    }
    if (test.result == PairResult::kFailed) round.news.push_back(failure_text_of(test));
  }
  for (PairTest& test : round.tests) {
    if (round.is_over && test.result == PairResult::kRunning) cut_off(request, test, "left");
  }
  return {};
}

// Continues one test. If is_final() is true for the error, no Job can be created.
Status NcclPairsAction::go_on(const StepRequest& request, const PairRound& round, PairTest& test) {
  for (const std::string& node : {test.first, test.second}) {
    if (round.find(node) != nullptr) continue;
    cut_off(request, test, node + " no longer exists");
    return {};
  }
  const bool is_late = is_overdue(request) || request.now - test.since > kLongestPairTest;
  if (!test.is_made && !is_late) return make_both(request, round, test);
  // The Jobs of the test may have ended since the last check.
  if (test.is_made) {
    auto watched = jobs_.watch(request, test);
    if (!watched) return std::unexpected(watched.error());
    test = std::move(*watched);
  }
  if (test.result == PairResult::kRunning && is_late) cut_off(request, test, "not done in time");
  if (test.result == PairResult::kRunning) return {};
  if (test.result != PairResult::kPassed && request.permit())
    (void)jobs_.end(request, test);  // If deletion fails, the Job ends at its own deadline.
  test.token.clear();
  return {};
}

Status NcclPairsAction::make_both(const StepRequest& request, const PairRound& round,
                                  PairTest& test) {
  const std::string& address = round.find(test.first)->node->internal_ip;
  if (address.empty()) {
    cut_off(request, test, test.first + " has no InternalIP");
    return {};
  }
  // Reads the nodes again, so that no Job is created on another node of the same name.
  for (const std::string& node : {test.first, test.second}) {
    const auto is_same = jobs_.is_there(*round.find(node)->node);
    if (!is_same) return std::unexpected(is_same.error());
    if (*is_same) continue;
    cut_off(request, test, node + " no longer exists");
    return {};
  }
  for (const std::string& node : {test.first, test.second}) {
    if (auto allowed = request.permit(); !allowed)
      return fail(ErrorKind::kCancelled, allowed.error().message);
    if (auto made = jobs_.make(request, test, *round.find(node)->node, address); !made) return made;
  }
  test.is_made = true;
  return {};
}

// Ends the test without a result. If a Job cannot be deleted, it ends at its own deadline.
void NcclPairsAction::cut_off(const StepRequest& request, PairTest& test, const std::string& why) {
  std::string words = why;
  if (auto allowed = request.permit(); !allowed) {
    words += "; its Jobs may still run: " + allowed.error().message;
  } else if (auto gone = jobs_.end(request, test); !gone) {
    words += "; its Jobs may still run: " + gone.error().message;
  }
  test.result = PairResult::kUnknown;
  test.words = to_valid_utf8(words, kMostPairWords);
  test.token.clear();
}

// Records the next tests. The next check creates their Jobs, so that the record exists first.
StepProgress NcclPairsAction::begin_next(const StepRequest& request, PairRound& round) {
  const std::vector<std::string> members = round.members();
  const bool waits_for_partner = members.size() == 1 && !round.group.coming.empty();
  const bool is_cut_short = round.is_over || is_overdue(request);
  PairPlan plan;
  if (!is_cut_short && !waits_for_partner) plan = plan_pairs(members, round.tests, round.busy);
  const bool is_notified = is_cut_short || !plan.verdicts.empty();
  for (auto& [first, second] : plan.next)
    round.tests.push_back({.first = first,
                           .second = second,
                           .since = request.now,
                           .token = random_hex(kTokenDigits)});
  const auto running = std::ranges::count(round.tests, PairResult::kRunning, &PairTest::result);
  StepProgress progress =
      pairs_running(request, "testing " + std::to_string(members.size()) +
                                 " nodes that failed together: " + std::to_string(running) +
                                 " pairs under way, " +
                                 std::to_string(std::ssize(round.tests) - running) + " done");
  progress.facts[kPairTestsFact] = pair_tests_text(round.tests);
  progress.news = round.news;
  if (is_notified) {
    progress.facts[kPairFindingsFact] =
        pair_findings_text(pair_findings(round.all_tested(), round.tests));
    progress.facts[kFindingsAtFact] = to_rfc3339_ms(request.now);
    progress.message = kAllIsKnown;
  }
  if (!plan.next.empty() || is_notified) progress.look_again = milliseconds(0);
  return progress;
}

// Ends the tests that this node led, because another node leads now or this node leaves the step.
Result<StepProgress> NcclPairsAction::step_down(const StepRequest& request) {
  for (PairTest& test : pair_tests_in(request.facts)) {
    if (test.result == PairResult::kRunning) cut_off(request, test, "left");
  }
  StepProgress progress = pairs_running(request, "handing the lead over to another node");
  for (const std::string& fact : {kPairTestsFact, kPairFindingsFact, std::string(kFindingsAtFact)})
    progress.facts.erase(fact);
  return progress;
}

Status NcclPairsAction::abandon(const StepRequest& request) {
  const std::string& node = request.remediation.node;
  std::vector<Remediation> leaders{request.remediation};
  seen_.with_seen([&](std::span<const SeenRemediation> seen) {
    for (const SeenRemediation& one : seen) {
      const StepRecord* record = pairs_record(one.remediation);
      const bool is_other = one.remediation.name != request.remediation.name && record != nullptr;
      if (is_other && is_tested(pair_tests_in(record->facts), node))
        leaders.push_back(one.remediation);
    }
  });
  for (const Remediation& leader : leaders) {
    const StepRecord* record = pairs_record(leader);
    if (record == nullptr) continue;
    const StepRequest theirs{.remediation = leader,
                             .node = request.node,
                             .step = request.step,
                             .facts = record->facts,
                             .permit = request.permit,
                             .now = request.now};
    const bool is_own = leader.name == request.remediation.name;
    for (const PairTest& test : pair_tests_in(record->facts)) {
      if (test.result != PairResult::kRunning || !(is_own || test.has(node))) continue;
      if (auto gone = jobs_.end(theirs, test); !gone) return gone;
    }
  }
  return {};
}

}  // namespace gpuward::remediator
