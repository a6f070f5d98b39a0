#include "remediator/act/actions/pair_jobs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/job_outcome.h"
#include "remediator/act/actions/job_template.h"
#include "remediator/act/actions/step_progress.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::minutes kPairDeadline{12};  // Deadline of each Job.

// One of the two Jobs. Only the leader's record determines the name of the Job.
struct PairSide {
  StepRequest request;  // Request of the leader, with this side's node.
  JobPart part;

  std::string name() const { return job_name(request, part); }
  std::string ns() const { return fact_of(request, kJobNamespaceFact); }
  std::string full_name() const { return "Job " + ns() + "/" + name(); }
};

// Returns the ID of the test for its Jobs. Each attempt has its own token, and so its own Jobs.
std::string part_id(const StepRequest& leader, const PairTest& test) {
  return short_hash(leader.remediation.uid + "/" + test.first + "/" + test.second + "/" +
                    to_rfc3339_ms(test.since) + "/" + test.token);
}

PairSide side_on(const StepRequest& leader, const PairTest& test, const kube::Node& node) {
  return {.request = {.remediation = leader.remediation,
                      .node = node,
                      .step = leader.step,
                      .facts = leader.facts,
                      .permit = leader.permit,
                      .now = leader.now},
          .part = {.id = part_id(leader, test), .values = {}, .timeout = kPairDeadline}};
}

// Returns the words of a Job, shortened so that the cause stays. A check's details begin with the
// cause, and a log ends with the cause.
std::string short_words(const std::string& node, const JobOutcome& outcome) {
  const std::string begin = node + ": ";
  if (!outcome.details.empty()) return to_valid_utf8(begin + outcome.details, kMostPairWords);
  if (outcome.words.empty()) return to_valid_utf8(begin + outcome.message, kMostPairWords);
  std::string_view tail = outcome.words;
  const std::size_t left = kMostPairWords - std::min(kMostPairWords, begin.size());
  if (tail.size() > left) tail.remove_prefix(tail.size() - left);
  while (!tail.empty() && utf8_character_length(tail) == 0) tail.remove_prefix(1);
  return to_valid_utf8(begin + std::string(tail), kMostPairWords);
}

// How the test has ended on one node.
struct PairEnd {
  PairResult result = PairResult::kUnknown;
  std::string words;
};

PairEnd end_of(const std::string& node, const JobOutcome& outcome) {
  if (outcome.exit_code == 0)
    return {PairResult::kPassed, outcome.words.empty() ? "" : short_words(node, outcome)};
  return {has_failed_check(outcome) ? PairResult::kFailed : PairResult::kUnknown,
          short_words(node, outcome)};
}

// Returns the test with the result of both sides. The test has failed as soon as one side reports a
// failure.
PairTest joined(PairTest test, const std::array<std::optional<PairEnd>, 2>& ends) {
  for (const PairResult worst : {PairResult::kFailed, PairResult::kUnknown}) {
    for (const auto& end : ends) {
      if (test.result != PairResult::kRunning || !end || end->result != worst) continue;
      test.result = worst;
      test.words = end->words;
    }
  }
  if (test.result == PairResult::kRunning && ends[0] && ends[1]) {
    test.result = PairResult::kPassed;
    test.words = ends[0]->words;
  }
  return test;
}

}  // namespace

Result<bool> PairJobs::is_there(const kube::Node& seen) {
  const auto node = api_.get_node(seen.meta.name);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  return node && node->meta.uid == seen.meta.uid;
}

Status PairJobs::make(const StepRequest& leader, const PairTest& test, const kube::Node& node,
                      const std::string& address) {
  PairSide side = side_on(leader, test, node);
  const auto policy = policy_.get();
  side.part.values = {{"$(RANK)", node.meta.name == test.first ? "0" : "1"},
                      {"$(ADDRESS)", address},
                      {"$(PORT)", std::to_string(policy->jobs.pair_port)},
                      {"$(TOKEN)", test.token}};
  const auto json = render_job(side.request, policy->jobs, side.ns(), side.part);
  if (!json) return std::unexpected(json.error());
  const auto created = api_.create_job(side.ns(), *json);
  if (created || created.error().kind == ErrorKind::kAlreadyExists) return {};
  return with_context("making " + side.full_name(), created.error());
}

Result<PairTest> PairJobs::watch(const StepRequest& leader, PairTest test) {
  std::array<std::optional<PairEnd>, 2> ends;
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    kube::Node node;
    node.meta.name = rank == 0 ? test.first : test.second;
    const PairSide side = side_on(leader, test, node);
    const auto job = api_.get_job(side.ns(), side.name());
    if (!job && job.error().kind == ErrorKind::kNotFound) {
      ends[rank] = PairEnd{PairResult::kUnknown,
                           side.full_name() + " no longer exists, and this step did not delete it"};
      continue;
    }
    if (!job) return with_context("reading " + side.full_name(), job.error());
    if (!is_job_of(*job, side.request, side.part)) {
      ends[rank] =
          PairEnd{PairResult::kUnknown, side.full_name() + " does not belong to this step"};
      continue;
    }
    const auto pods = api_.list_pods(side.ns(), "job-name=" + side.name());
    if (!pods) return with_context("reading the pod of " + side.full_name(), pods.error());
    const JobOutcome outcome = outcome_of(*job, *pods);
    if (outcome.is_over) ends[rank] = end_of(node.meta.name, outcome);
  }
  return joined(std::move(test), ends);
}

Status PairJobs::end(const StepRequest& leader, const PairTest& test) {
  Status all;
  for (const std::string& name : {test.first, test.second}) {
    kube::Node node;
    node.meta.name = name;
    const PairSide side = side_on(leader, test, node);
    const auto job = api_.get_job(side.ns(), side.name());
    if (!job && job.error().kind == ErrorKind::kNotFound) continue;
    if (!job) {
      all = with_context("reading " + side.full_name(), job.error());
      continue;
    }
    const bool has_ended = job->is_complete || job->is_failed;
    if (has_ended || !is_job_of(*job, side.request, side.part)) continue;
    const auto deleted = api_.delete_job(side.ns(), side.name());
    if (!deleted && deleted.error().kind != ErrorKind::kNotFound)
      all = with_context("deleting " + side.full_name(), deleted.error());
  }
  return all;
}

}  // namespace gpuward::remediator
