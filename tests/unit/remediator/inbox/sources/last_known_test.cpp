// The last facts about a silent node from Loki and the API server.
#include <gmock/gmock.h>

#include "remediator/inbox/sources/job_nodes.h"
#include "remediator/inbox/sources/last_kernel_lines.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/fake_loki.h"
#include "tests/fakes/in_process_client.h"
#include "tests/fakes/kube_objects.h"
#include "tests/unit/remediator/inbox/sources/loki_source_case.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LastKernelLinesTest : public ::testing::Test {
 protected:
  LastKernelLinesTest() {
    clock_.advance(minutes(60));
    node_.node = "gpu-1";
    node_.ready = "Unknown";
    node_.since = clock_.wall() - minutes(5);
  }
  void push(const std::string& node, seconds ago, const std::string& text) {
    const auto at = std::chrono::nanoseconds((clock_.wall() - ago).time_since_epoch()).count();
    loki_.push({{"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", node}}, at, text);
  }
  Result<std::string> ask() {
    return LastKernelLines({.url = "http://loki:3100"}, loki_, policy_, clock_).of(node_);
  }

  fakes::FakeClock clock_;
  fakes::FakeLoki loki_{clock_};
  CurrentPolicy policy_{Policy{}};
  NodeSign node_;
};

TEST_F(LastKernelLinesTest, AreTheNewestOfTheNodeInTheirOrder) {
  push("gpu-1", minutes(9), "first");
  push("gpu-1", minutes(8), "second");
  push("gpu-1", minutes(7), "third");
  push("gpu-1", minutes(6), std::string("NVRM: Xid 79 ") + std::string(500, 'x'));
  push("gpu-2", minutes(5), "another node");

  const auto said = ask();

  ASSERT_TRUE(said) << said.error().message;
  EXPECT_THAT(*said, AllOf(HasSubstr("Loki: the last kernel lines are"),
                           ::testing::ContainsRegex("Z \"second\", .*Z \"third\", .*Xid 79 x"),
                           Not(HasSubstr("first")), Not(HasSubstr("another"))));
  EXPECT_LT(said->size(), 400U);
}

TEST_F(LastKernelLinesTest, SayIfThereAreNone) {
  push("gpu-1", minutes(30), "long before");

  EXPECT_EQ(ask().value_or(""), "Loki: no kernel line since 15 minutes before Ready changed");
}

TEST_F(LastKernelLinesTest, AreUnknownIfLokiDoesNotAnswer) {
  loki_.fail_with(Error{ErrorKind::kTimeout, "no answer in 10 s"});

  EXPECT_EQ(ask().error().message, "reading Loki: no answer in 10 s");
}

class ListedSigns final : public NodeSigns {
 public:
  std::vector<NodeSign> signs(WallTime) const override { return nodes; }
  bool is_current(Clock::Steady) const override { return true; }
  std::vector<NodeSign> nodes;
};

kube::ApiOptions options() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = std::chrono::milliseconds(0);
  return options;
}

class JobNodesTest : public ::testing::Test {
 protected:
  JobNodesTest() {
    for (const std::string name : {"gpu-1", "gpu-2", "gpu-3", "gpu-4"}) {
      kube_.create("/api/v1/nodes", fakes::ready_node(name));
      NodeSign& node = nodes_.nodes.emplace_back();
      node.node = name;
      node.ready = "True";
    }
  }
  void run(const std::string& name, const std::string& node, const std::string& set) {
    kube_.create("/api/v1/namespaces/default/pods",
                 fakes::pod(name, node, {{"jobset.sigs.k8s.io/jobset-name", set}}));
    kube_.patch_status("/api/v1/namespaces/default/pods/" + name, fakes::running_status());
  }
  void report(const std::string& node, const std::string& alert, Severity severity) {
    AlertSignal& signal = known_.all.emplace_back(a_signal(node, alert));
    signal.alertname = alert;
    signal.severity = severity;
  }
  Result<std::string> ask() { return JobNodes(api_, nodes_, known_, clock_).of(nodes_.nodes[0]); }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient client_{kube_};
  NobodysCredentials credentials_;
  kube::Api api_{options(), client_, credentials_, clock_};
  ListedSigns nodes_;
  ListedEvidence known_;
};

TEST_F(JobNodesTest, SayWhatIsReportedOfTheOtherNodesOfAJob) {
  run("train-0", "gpu-1", "train");
  run("train-1", "gpu-2", "train");
  run("train-2", "gpu-3", "train");
  run("other-0", "gpu-4", "other");
  nodes_.nodes[1].ready = "Unknown";
  report("gpu-3", "GpuXidReboot", Severity::kReboot);
  report("gpu-4", "GpuXidReset", Severity::kReset);

  EXPECT_EQ(ask().value_or(""),
            "JobSet default/train runs on 2 other nodes (reported: gpu-2: not Ready, gpu-3: "
            "GpuXidReboot (reboot))");
}

TEST_F(JobNodesTest, SayThatNothingIsReported) {
  run("train-0", "gpu-1", "train");
  run("train-1", "gpu-2", "train");

  EXPECT_EQ(ask().value_or(""), "JobSet default/train runs on 1 other node (nothing reported)");
}

TEST_F(JobNodesTest, SayNothingOfAJobThatRunsThereAlone) {
  run("train-0", "gpu-1", "train");
  kube_.create("/api/v1/namespaces/default/pods", fakes::pod("web", "gpu-1"));

  EXPECT_EQ(ask().value_or("?"), "");
}

TEST_F(JobNodesTest, AreUnknownIfTheApiServerDoesNotAnswer) {
  fakes::Fault fault;
  fault.kind = fakes::FaultKind::kInternalError;
  fault.times = 100;
  kube_.add_fault(fault);

  EXPECT_THAT(ask().error().message, HasSubstr("reading the node's pods: "));
}

}  // namespace
}  // namespace gpuward::remediator
