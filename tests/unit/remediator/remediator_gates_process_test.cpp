// The gates of the real program: the stop switch, the cap on cordons, several replicas.
#include "tests/support/wait.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using support::wait_until;
using ::testing::HasSubstr;
using ::testing::Not;

class RemediatorGates : public RemediatorProcess {
 protected:
  Json remediation() {
    const Json list = server_->kube().get("/apis/gpuward.dev/v1alpha1/remediations");
    return list["items"].empty() ? Json() : list["items"][0];
  }
  std::string rule() { return string_at(member_at(remediation(), "status"), "rule"); }
  void tell_of(const std::string& node) { deliver(notification(firing(node))); }
  std::string metrics() { return support::http_get(telemetry("/metrics")).body; }
};

TEST_F(RemediatorGates, ChangeNoNodeWhileTheSwitchSaysStop) {
  set_stop("true");
  start_ready();
  tell_of("gpu-01");
  ASSERT_TRUE(wait_until([&] { return rule() == "guard.stop"; }, "the stop"));
  EXPECT_FALSE(is_tainted("gpu-01"));

  set_stop("false");

  EXPECT_TRUE(
      wait_until([&] { return is_tainted("gpu-01") && is_cordoned("gpu-01"); }, "the quarantine"));
}

TEST_F(RemediatorGates, ChangeNoNodeWithoutASwitch) {
  server_->kube().remove("/api/v1/namespaces/gpuward/configmaps/gpuward-remediator-switch");
  start_ready();

  tell_of("gpu-01");

  ASSERT_TRUE(wait_until([&] { return rule() == "guard.stop"; }, "the stop"));
  EXPECT_FALSE(is_tainted("gpu-01"));
}

// The metric reminds an operator who forgot the switch, even if no node has a fault.
TEST_F(RemediatorGates, TellThatTheSwitchSaysStopIfNothingIsToBeDone) {
  set_stop("true");
  start_ready();

  EXPECT_TRUE(
      wait_until([&] { return metrics().contains("gpuward_remediator_stopped 1\n"); }, "the stop"));
  EXPECT_THAT(metrics(), HasSubstr("gpuward_remediator_ledger_kept 1\n"));
}

TEST_F(RemediatorGates, TellThatTheLedgerIsRefused) {
  server_->kube().create("/api/v1/namespaces/gpuward/configmaps",
                         {{"metadata", {{"name", "gpuward-ledger"}, {"namespace", "gpuward"}}},
                          {"data", {{"ledger", "of a version to come\n"}}}});
  start_ready();

  EXPECT_TRUE(wait_until([&] { return metrics().contains("gpuward_remediator_ledger_kept 0\n"); },
                         "the failed upkeep"));
  tell_of("gpu-01");
  EXPECT_TRUE(wait_until([&] { return rule() == "budget.ledger"; }, "what the cordon waits for"));
  EXPECT_FALSE(is_cordoned("gpu-01"));
}

TEST_F(RemediatorGates, TaintAndCordonAsManyNodesAsTheirCapsAllow) {
  server_->kube().create("/api/v1/nodes", fakes::ready_node("gpu-02"));
  start_ready();
  tell_of("gpu-01");
  ASSERT_TRUE(wait_until([&] { return is_cordoned("gpu-01"); }, "the first cordon"));

  tell_of("gpu-02");

  ASSERT_TRUE(wait_until([&] { return is_tainted("gpu-02"); }, "the second taint"));
  EXPECT_FALSE(is_cordoned("gpu-02"));
}

// start_two() keeps the first process in first_. The fixture's own is the second one from then on.
class RemediatorReplicas : public RemediatorGates {
 protected:
  static bool leads(const support::Process& process) {
    return process.error_output().find("This replica leads") != std::string::npos;
  }
  void start_two() {
    start_ready();
    ASSERT_TRUE(wait_until([&] { return leads(*process_); }, "the lead"));
    first_ = std::move(process_);
    start_ready();
  }
  Json lease() {
    return member_at(
        server_->kube().get(
            "/apis/coordination.k8s.io/v1/namespaces/gpuward/leases/gpuward-remediator"),
        "spec");
  }
  // The replica that holds the lease; empty after a replica released it.
  std::string holder() { return string_at(lease(), "holderIdentity"); }
  std::unique_ptr<support::Process> first_;
};

TEST_F(RemediatorReplicas, ActByOneAndTakeAlertsByAll) {
  start_two();

  tell_of("gpu-01");  // to the second, which does not lead

  EXPECT_TRUE(wait_until([&] { return is_cordoned("gpu-01"); }, "the first one's cordon"));
  EXPECT_TRUE(wait_until([&] { return first_->error_output().contains("Node changed"); },
                         "the first one's word of it"));
  EXPECT_FALSE(leads(*process_));
  EXPECT_THAT(process_->error_output(), Not(HasSubstr("Node changed")));
}

TEST_F(RemediatorReplicas, TakeTheLeadOverFromOneThatHasStopped) {
  start_two();
  const std::string first = holder();
  EXPECT_EQ(first_->stop(), 0);
  EXPECT_NE(holder(), first) << "the second would have to wait for the end of the lease";
  EXPECT_TRUE(wait_until([&] { return leads(*process_); }, "the lead"));

  tell_of("gpu-01");

  EXPECT_TRUE(wait_until([&] { return is_cordoned("gpu-01"); }, "the second one's cordon"));
}

TEST_F(RemediatorReplicas, TakeTheLeadOverFromOneThatWasKilled) {
  start_two();
  EXPECT_EQ(member_at(lease(), "leaseDurationSeconds"), 15) << "the longest time without a leader";
  first_.reset();  // SIGKILL
  tell_of("gpu-01");

  EXPECT_TRUE(wait_until([&] { return is_cordoned("gpu-01"); }, "the second one's cordon"));
}

// When it wakes, it still believes that it leads. It may not write before it has checked.
TEST_F(RemediatorReplicas, WriteNothingAfterASleepInWhichAnotherTookTheLead) {
  start_two();
  first_->signal(SIGSTOP);
  ASSERT_TRUE(wait_until([&] { return leads(*process_); }, "the lead"));
  server_->kube().clear_requests();
  tell_of("gpu-01");
  // The fake logs a request only after its effect is visible.
  const auto patches_of_the_node = [&] {
    return server_->kube().requests("PATCH", "/api/v1/nodes/gpu-01").size();
  };
  ASSERT_TRUE(
      wait_until([&] { return is_cordoned("gpu-01") && patches_of_the_node() > 0; }, "the cordon"));
  const auto patches = patches_of_the_node();

  first_->signal(SIGCONT);

  ASSERT_TRUE(wait_until(
      [&] {
        return first_->error_output().find("This replica does not lead") != std::string::npos;
      },
      "the first one to learn of it"));
  EXPECT_EQ(patches_of_the_node(), patches);
}

}  // namespace
}  // namespace gpuward::remediator
