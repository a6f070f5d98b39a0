#include "exporter/publish/node_page.h"

#include <gmock/gmock.h>

#include "tests/unit/exporter/publish/filled_snapshot.h"

namespace gpuward::exporter {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Clock::Wall kNow = *parse_rfc3339("2026-11-21T08:00:00Z");

std::string page_of(const Snapshot& snapshot) { return node_page(snapshot, "gpu-7", kNow).html(); }

TEST(NodePage, HasACellForEachGpuWithTheWorstThatWasFoundThere) {
  Snapshot snapshot = filled_snapshot(2);
  snapshot.state.findings.clear();
  const auto add = [&](const std::string& code, Severity severity) {
    const std::string pci = snapshot.gpus[1].pci.bus_id();
    Finding& finding = snapshot.state.findings[{"xid", code, pci}];
    finding.check = "xid";
    finding.code = code;
    finding.pci_bus_id = pci;
    finding.severity = severity;
    finding.line = "NVRM: <unknown>";
    finding.first_seen = kNow - std::chrono::hours(3);
  };
  add("13", Severity::kMonitor);
  add("79", Severity::kReboot);
  EXPECT_THAT(page_of(snapshot),
              AllOf(HasSubstr("<li class=\"well\""), HasSubstr("<li class=\"reboot\""),
                    HasSubstr("<strong>GPU 1</strong>"), HasSubstr("▲ reboot"),
                    HasSubstr("NVRM: &lt;unknown&gt;"), HasSubstr(">3 h</time>")));
}

TEST(NodePage, ShowsWhatEachCheckSaidLast) {
  Snapshot snapshot;
  CheckResult& result = snapshot.state.checks["0-nvidia-smi"];
  result.status = CheckStatus::kFail;
  result.details = "1 of 8 is missing";
  result.started = kNow;
  EXPECT_THAT(page_of(snapshot), AllOf(HasSubstr("0-nvidia-smi"), HasSubstr("▲ fail"),
                                       HasSubstr("1 of 8 is missing")));
}

TEST(NodePage, SaysWhatTheExporterCannotDo) {
  Snapshot snapshot;
  snapshot.health.kernel_log_fault = "permission denied";
  snapshot.health.inventory_fault.reset();
  EXPECT_THAT(page_of(snapshot),
              AllOf(HasSubstr("<dt>Kernel log</dt>"), HasSubstr("▲ permission denied"),
                    Not(HasSubstr("<dt>GPUs</dt>"))));
}

TEST(NodePage, SaysThatNoProfileDescribesTheMachine) {
  Snapshot snapshot;
  EXPECT_THAT(page_of(snapshot), Not(HasSubstr("no profile"))) << "before the first look";
  snapshot.instance.source = "unknown";
  EXPECT_THAT(page_of(snapshot),
              HasSubstr("unknown type: no profile; compared with the hardware seen before"));
  snapshot.instance.type = "x9.huge";
  EXPECT_THAT(page_of(snapshot), HasSubstr("x9.huge: no profile"));
  snapshot.instance.has_profile = true;
  EXPECT_THAT(page_of(snapshot), Not(HasSubstr("no profile")));
}

TEST(NodePage, NamesItsNode) { EXPECT_THAT(page_of({}), HasSubstr("<h1>GPUs of gpu-7</h1>")); }

TEST(NodePage, OfANodeWithoutGpusSaysSo) {
  EXPECT_THAT(page_of({}),
              AllOf(HasSubstr("No driver has reported a GPU on this node."),
                    HasSubstr("✓ No findings."), HasSubstr("No check has completed yet.")));
}

}  // namespace
}  // namespace gpuward::exporter
