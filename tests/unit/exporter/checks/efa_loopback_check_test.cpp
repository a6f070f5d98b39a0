#include "exporter/checks/efa/efa_loopback_check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "exporter/checks/check/finding_list.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"
#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using samples::recorded;
using testing::HasSubstr;
using Kind = CheckOutcome::Kind;

std::string fi_info(const std::vector<std::string>& domains) {
  std::string text;
  for (const std::string& domain : domains) {
    text += "provider: efa\n    fabric: efa\n    domain: " + domain +
            "\n    version: 122.0\n    type: FI_EP_RDM\n    protocol: FI_PROTO_EFA\n";
  }
  return text;
}

class EfaLoopbackTest : public testing::Test {
 protected:
  EfaLoopbackTest() { node.use_profile("p4d.24xlarge"); }
  void has_two_devices() {
    node.host.with_efa(2);
    node.tools.add("fi_info", "", {.output = fi_info({"rdmap16s0-rdm", "rdmap17s0-rdm"})});
    node.tools.add("fi_pingpong", "server", {.hangs = true});
    node.tools.add("fi_pingpong", "client", {.output = recorded("efa/fi_pingpong-tcp.txt")});
  }
  // Counts the clients alone. A server ends with its client, maybe before it is counted.
  std::size_t clients() {
    return static_cast<std::size_t>(std::ranges::count_if(
        node.tools.calls("fi_pingpong"),
        [](const std::string& call) { return call.ends_with(" 127.0.0.1"); }));
  }
  CheckOutcome run() {
    EfaLoopbackCheck check;
    return node.run(check);
  }

  ExternalCheckNode node;
};

TEST_F(EfaLoopbackTest, Check6PassesWhenEachDeviceReachesItself) {
  has_two_devices();
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_EQ(describe_findings(outcome.findings), "");
  EXPECT_THAT(outcome.details, HasSubstr("2 of 2 devices"));
  EXPECT_THAT(outcome.details, HasSubstr("53.9 Gbit/s"));
}

TEST_F(EfaLoopbackTest, TellsServerAndClientTheDomainAndOnePort) {
  has_two_devices();
  (void)run();
  EXPECT_EQ(clients(), 2U);
  for (const std::string& call : node.tools.calls("fi_pingpong")) {
    EXPECT_THAT(call, HasSubstr("fi_pingpong -e rdm -p efa -d rdmap1"));
  }
}

// Fi_info's -61, the usual answer of a node without EFA, ended the check without a result.
TEST_F(EfaLoopbackTest, NoEfaIsSkippedIfNoneIsExpected) {
  node.use_profile("g6.xlarge");
  node.tools.add("fi_pingpong", "", {});
  node.tools.add("fi_info", "",
                 {.complaint = "fi_getinfo: -61 (No data available)", .exit_code = 61});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kSkipped);
  EXPECT_THAT(outcome.details, HasSubstr("-61"));
}

TEST_F(EfaLoopbackTest, NoEfaIsAFaultIfItIsExpectedAndTheBusHasNoneEither) {
  node.tools.add("fi_pingpong", "", {});
  node.tools.add("fi_info", "", {.exit_code = 61});
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
}

TEST_F(EfaLoopbackTest, NoEfaIsSkippedIfTheMachineWasLaunchedWithoutIt) {
  node.snapshot.state.machine.efa_devices = 0;
  node.tools.add("fi_pingpong", "", {});
  node.tools.add("fi_info", "", {.exit_code = 61});
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.settings.is_seed_profile = true;
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
}

TEST_F(EfaLoopbackTest, NoEfaIsWatchedIfOnlyTheMemoryExpectsIt) {
  node.profile.reset();
  node.tools.add("fi_pingpong", "", {});
  node.tools.add("fi_info", "", {.exit_code = 61});
  EXPECT_EQ(worst_of(run().findings), Severity::kMonitor);
}

TEST_F(EfaLoopbackTest, ALibraryWithoutTheProviderIsNoFaultOfADevice) {
  node.host.with_efa(4);
  node.tools.add("fi_pingpong", "", {});
  node.tools.add("fi_info", "", {.exit_code = 61});
  const CheckOutcome outcome = run();
  EXPECT_EQ(worst_of(outcome.findings), Severity::kMonitor);
  EXPECT_EQ(outcome.findings.at(0).code, "efa_absent_unconfirmed");
}

TEST_F(EfaLoopbackTest, BlamesTheOneDeviceThatCannotReachItself) {
  has_two_devices();
  node.tools.add("fi_pingpong", "client-rdmap17s0-rdm",
                 {.complaint = "fi_eq_sread failed", .exit_code = 5});
  const CheckOutcome outcome = run();
  ASSERT_EQ(outcome.findings.size(), 1U) << outcome.details;
  EXPECT_EQ(outcome.findings[0].code, "efa_loopback_failed");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kReboot);
  EXPECT_EQ(outcome.findings[0].pci_bus_id, "0000:11:00");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("fi_eq_sread failed"));
  node.settings.is_seed_profile = true;
  EXPECT_EQ(worst_of(run().findings), Severity::kReset);
}

TEST_F(EfaLoopbackTest, DoesNotTellWhenNoDeviceReachesItself) {
  has_two_devices();
  node.tools.add("fi_pingpong", "client", {.complaint = "no memory", .exit_code = 12});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_TRUE(outcome.findings.empty());
}

// The replaced README promised a threshold that the code no longer had. fi_pingpong is slower than
// the device, and healthy devices have shown 17.5 Gbit/s, so the check only warns.
TEST_F(EfaLoopbackTest, WarnsBelowTheThreshold) {
  has_two_devices();
  node.tools.add("fi_pingpong", "client-rdmap16s0-rdm",
                 {.output = recorded("efa/fi_pingpong-efa.txt")});
  const CheckOutcome outcome = run();
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "efa_loopback_slow");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  node.settings.efa_min_gbits = 10;
  EXPECT_TRUE(run().findings.empty());
}

TEST_F(EfaLoopbackTest, WaitsForTheServerToListen) {
  has_two_devices();
  node.tools.add_once("fi_pingpong", "client",
                      {.complaint = "[error] util/pingpong.c:408 : failed to connect: Connection "
                                    "refused",
                       .exit_code = 111});
  EXPECT_EQ(run().kind, Kind::kDone);
  EXPECT_EQ(clients(), 3U);
}

TEST_F(EfaLoopbackTest, SaysWhatTheServerComplainedOf) {
  has_two_devices();
  node.tools.add("fi_pingpong", "server", {.complaint = "cannot lock memory", .exit_code = 12});
  node.tools.add("fi_pingpong", "client", {.complaint = "Connection refused", .exit_code = 111});
  EXPECT_THAT(run().details, HasSubstr("cannot lock memory"));
}

TEST_F(EfaLoopbackTest, LeavesNoServerAndNoChildBehind) {
  has_two_devices();
  (void)run();
  const auto child = node.tools.child_of("fi_pingpong");
  EXPECT_TRUE(!child || is_gone(*child));
  node.tools.add("fi_pingpong", "client", {.hangs = true});
  node.settings.efa_test_timeout = std::chrono::milliseconds(3'000);
  EXPECT_EQ(run().kind, Kind::kError);
  EXPECT_TRUE(is_gone(node.tools.child_of("fi_pingpong").value()));
}

TEST_F(EfaLoopbackTest, CountsDropsDuringTheTestAndNotOfTheDevicesLife) {
  has_two_devices();
  node.host.with_efa(2, 1000);
  EXPECT_TRUE(run().findings.empty());
  std::vector<LoopbackResult> results{{"rdmap16s0-rdm", "0000:10:00", 50.0, "", 3, 1}};
  const CheckOutcome outcome = efa_loopback_outcome(results, node.settings);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "efa_loopback_drops");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("3 packets dropped, 1 retransmission"));
}

// A program that loses packets while it runs: it changes the counters of the first device.
TEST_F(EfaLoopbackTest, WarnsOfDropsAndTimeoutsWhileItTests) {
  has_two_devices();
  fakes::ToolBox sound;
  sound.add("fi_pingpong", "server", {.hangs = true});
  sound.add("fi_pingpong", "client", {.output = recorded("efa/fi_pingpong-tcp.txt")});
  const auto counters = node.host.paths().sys / "class/infiniband/rdmap16s0/ports/1/hw_counters";
  const auto program = node.tools.path() / "fi_pingpong";
  std::filesystem::remove(program);
  // Both ends write the counters at the same time. Each write replaces the file, so that no reader
  // sees an empty counter.
  std::ofstream(program) << "#!/bin/sh\ncount() { echo $1 >$2.$$ && /bin/mv $2.$$ $2; }\ncount 7 "
                         << (counters / "rx_drops").string() << "\ncount 2 "
                         << (counters / "retrans_timeout_events").string() << "\nexec "
                         << (sound.path() / "fi_pingpong").string() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);

  const CheckOutcome outcome = run();

  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  ASSERT_EQ(outcome.findings.size(), 1U) << outcome.details;
  EXPECT_EQ(outcome.findings[0].code, "efa_loopback_drops");
  EXPECT_EQ(outcome.findings[0].pci_bus_id, "0000:10:00");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("7 packets dropped, 2 retransmission"));
}

TEST_F(EfaLoopbackTest, TakesIbWriteBwIfFiPingpongIsMissing) {
  node.host.with_efa(1);
  node.tools.add("ib_write_bw", "server", {.hangs = true});
  node.tools.add("ib_write_bw", "client",
                 {.output = " #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate\n"
                            " 65536 5000 92.1 91.5 0.17\n"});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_THAT(outcome.details, HasSubstr("91.5 Gbit/s"));
  EXPECT_THAT(node.tools.calls("ib_write_bw").at(0), HasSubstr("-d rdmap16s0 -x 0 -c SRD"));
}

TEST_F(EfaLoopbackTest, SkipsWithoutAnyProgram) {
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.tools.add("fi_pingpong", "", {});
  EXPECT_THAT(run().details, HasSubstr("fi_info"));
}

// A quarantine would pass a machine whose devices were not tested.
TEST_F(EfaLoopbackTest, CannotTellWithoutAProgramIfTheMachineHasEfa) {
  node.host.with_efa(4);
  for (const bool is_seed : {false, true}) {
    node.settings.is_seed_profile = is_seed;
    const CheckOutcome outcome = run();
    EXPECT_EQ(outcome.kind, Kind::kError);
    EXPECT_TRUE(outcome.findings.empty());
    EXPECT_THAT(outcome.details, HasSubstr("4 EFA devices"));
    EXPECT_THAT(outcome.details, HasSubstr("fi_pingpong and fi_info, or ib_write_bw"));
    EXPECT_THAT(outcome.details, HasSubstr("image"));
  }
}

TEST_F(EfaLoopbackTest, StopsBetweenDevices) {
  has_two_devices();
  node.stop.request_stop();
  EXPECT_EQ(run().kind, Kind::kError);
}

}  // namespace
}  // namespace gpuward::exporter
