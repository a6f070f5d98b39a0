// Nodes at the step nccl-pairs: their Remediations, a fake API server, and Jobs whose controller
// and kubelets the test plays. Base of the tests of that step.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "remediator/act/actions/nccl_pairs_action.h"
#include "remediator/act/actions/step_progress.h"
#include "tests/unit/remediator/act/actions/intended_step.h"
#include "tests/unit/remediator/act/actions/job_cluster.h"

namespace gpuward::remediator {

struct PairsMember {
  Remediation remediation;
  kube::Node node;
};

class MembersOpen final : public SeenRemediations {
 public:
  void with_seen(const std::function<void(std::span<const SeenRemediation>)>& use) const override {
    std::vector<SeenRemediation> open;
    for (const auto& [name, member] : members) {
      const bool was_there = member.remediation.status.find(Step::kNcclPairs) != nullptr;
      if (member.remediation.open() || was_there)
        open.push_back({member.remediation, std::make_shared<const kube::Node>(member.node)});
    }
    use(open);
  }
  std::map<std::string, PairsMember> members;  // by node
};

class NcclPairsStage : public JobCluster {
 protected:
  NcclPairsStage() {
    Policy policy;
    policy.mode = Mode::kFull;
    policy.jobs.image = "here/gpuward:1";
    policy.recovery[Severity::kIsolate] = {planned(Step::kNcclTest), planned(Step::kNcclPairs),
                                           planned(Step::kVerify), planned(Step::kReturn)};
    policy_.set(policy);
  }

  // Adds a node whose job failed together with those of the others and that has not reached the
  // step.
  PairsMember& add_coming(const std::string& name, const std::string& jobs = "JobSet a/train") {
    kube_.create("/api/v1/nodes", fakes::ready_node(name));
    kube_.patch_status(
        "/api/v1/nodes/" + name,
        {{"status",
          {{"addresses",
            Json::array({{{"type", "Hostname"}, {"address", name}},
                         {{"type", "InternalIP"}, {"address", "10.0.0." + name.substr(4)}}})}}}});
    PairsMember& member = open_.members[name];
    member.node = *api_.get_node(name);
    Remediation& remediation = member.remediation;
    remediation.name = name + "-ab-1";
    remediation.uid = "uid-of-" + name;
    remediation.node = name;
    remediation.node_uid = member.node.meta.uid;
    remediation.created = clock_.wall();
    remediation.severity = Severity::kIsolate;
    remediation.status.phase = Phase::kTesting;
    const Facts facts = jobs.empty() ? Facts() : Facts{{kJobsFact, jobs}};
    StepRecord drain = intended_step(Step::kDrain, Severity::kIsolate, clock_.wall(), facts);
    drain.result = StepResult::kDone;
    remediation.status.steps = {drain};
    return member;
  }
  void arrive(const std::string& name) {
    PairsMember& member = open_.members.at(name);
    member.remediation.status.steps.push_back(intended_step(
        Step::kNcclPairs, Severity::kIsolate, clock_.wall(), action_.facts_before(member.node)));
  }
  void add(const std::string& name, const std::string& jobs = "JobSet a/train") {
    add_coming(name, jobs);
    arrive(name);
  }

  StepRecord& record(const std::string& name) {
    return open_.members.at(name).remediation.status.steps.at(1);
  }
  StepRequest request(const std::string& name) {
    PairsMember& member = open_.members.at(name);
    return {.remediation = member.remediation,
            .node = member.node,
            .step = step_,
            .facts = record(name).facts,
            .permit = [this] { return allowed_; },
            .now = clock_.wall(),
            .ran = ran_of(member.remediation, Step::kNcclPairs, clock_.wall())};
  }
  // Looks as the reconciler does, and records the progress.
  StepProgress look(const std::string& name) {
    const auto progress = action_.watch(request(name));
    if (!progress) {
      EXPECT_TRUE(is_cut_off_) << progress.error().message;
      return {};
    }
    if (lost_record_ != looks_++) note(name, *progress);
    return *progress;
  }
  void note(const std::string& name, const StepProgress& progress) {
    record(name).result = progress.result;
    record(name).message = progress.message;
    record(name).facts = progress.facts;
    record(name).active_seconds = static_cast<int>(
        ran_of(open_.members.at(name).remediation, Step::kNcclPairs, clock_.wall()) /
        std::chrono::seconds(1));
    if (progress.result == StepResult::kDone)
      open_.members.at(name).remediation.status.phase = Phase::kVerifying;
    if (progress.result == StepResult::kFailed)
      open_.members.at(name).remediation.status.phase = Phase::kHeld;
  }
  bool is_at_it(const std::string& name) {
    return record(name).result == StepResult::kIntended ||
           record(name).result == StepResult::kRunning;
  }
  bool is_anybody_at_it(const std::string& but_for = {}) {
    return std::ranges::any_of(open_.members, [&](const auto& entry) {
      const bool is_there =
          entry.first != but_for && entry.second.remediation.status.steps.size() > 1;
      return is_there && entry.second.remediation.open() && is_at_it(entry.first);
    });
  }
  // Each node that is at the step looks, in turn.
  void look_all(int times = 1, const std::string& but_for = {}) {
    for (int i = 0; i < times; ++i) {
      for (const auto& [name, member] : open_.members) {
        if (name != but_for && member.remediation.status.steps.size() > 1 && is_at_it(name))
          look(name);
      }
    }
  }
  // Ends all Jobs with the result of `passes` for the two nodes of their test, until no node is at
  // the step.
  void play(const std::function<bool(const std::string&, const std::string&)>& passes) {
    play_but_for({}, passes);
  }
  // Plays the same, but `absent` does not look and the loop does not wait for it.
  void play_but_for(const std::string& absent,
                    const std::function<bool(const std::string&, const std::string&)>& passes) {
    for (int i = 0; i < 100 && is_anybody_at_it(absent); ++i) {
      look_all(1, absent);
      std::map<std::string, std::vector<std::string>> pairs;  // by part
      for (const Json& job : running_jobs()) pairs[part_of(job)].push_back(node_of(job));
      for (const auto& [part, nodes] : pairs) {
        if (nodes.size() != 2) continue;
        for (const std::string& node : nodes) end_job(node, passes(nodes[0], nodes[1]) ? 0 : 1);
      }
    }
  }

  // --- Jobs as their controller and the kubelets see them
  static std::string part_of(const Json& job) {
    return string_at(job["metadata"]["labels"], "gpuward.dev/part");
  }
  static std::string argument_of(const Json& job, const std::string& flag) {
    for (const Json& word : job["spec"]["template"]["spec"]["containers"][0]["command"]) {
      const auto text = word.get<std::string>();
      if (text.starts_with("--" + flag + "=")) return text.substr(flag.size() + 3);
    }
    return "none";
  }
  static std::string token_of(const Json& job) {
    for (const Json& variable : job["spec"]["template"]["spec"]["containers"][0]["env"]) {
      if (string_at(variable, "name") == "PAIR_TOKEN") return string_at(variable, "value");
    }
    return "none";
  }
  std::vector<Json> jobs() {
    const Json list = kube_.get(kJobs);
    return list["items"].get<std::vector<Json>>();
  }
  std::vector<Json> running_jobs() {
    std::vector<Json> running;
    for (Json& job : jobs()) {
      if (!job.contains("status") || !job["status"].contains("conditions"))
        running.push_back(std::move(job));
    }
    return running;
  }
  Json running_job_on(const std::string& node) {
    for (Json& job : running_jobs()) {
      if (node_of(job) == node) return job;
    }
    return nullptr;
  }

  // Ends the Job that runs on the node, by default with the result of a failed pair.
  void end_job(const std::string& node, int code,
               const std::string& words = R"({"check":"5-nccl-pair","status":"fail"})") {
    const Json job = running_job_on(node);
    ASSERT_FALSE(job.is_null()) << node;
    exit_job(job, code, code == 0 ? "" : words);
  }

  ::testing::AssertionResult is_good(const std::string& name) {
    if (record(name).result == StepResult::kDone) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << name << ": " << record(name).message;
  }
  ::testing::AssertionResult needs_operator(const std::string& name) {
    if (record(name).result == StepResult::kFailed &&
        record(name).facts.contains(kNeedsOperatorFact))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << name << ": " << record(name).message;
  }

  MembersOpen open_;
  NcclPairsAction action_{api_, policy_, open_};
  PlannedStep step_ = planned(Step::kNcclPairs);
  bool is_cut_off_ = false;  // by a fault of the API, at some request
  int lost_record_ = -1;     // after this look the process dies before it records
  int looks_ = 0;
};

}  // namespace gpuward::remediator
