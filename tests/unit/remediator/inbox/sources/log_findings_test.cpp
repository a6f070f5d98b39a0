#include "remediator/inbox/sources/log_findings.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

LogLine line_of(const std::string& text, const std::string& node = "gpu-01") {
  return {1'790'000'000'000'000'000, {{"k8s_node_name", node}}, text};
}

std::optional<AlertSignal> of_kernel(const std::string& text, const std::string& node = "gpu-01") {
  return signal_of_kernel_line(line_of(text, node), xid::Catalogue(), LokiRules());
}

constexpr const char* kLost =
    "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

TEST(LogFindings, AreWhatTheCatalogueSaysOfTheKernelsLines) {
  const auto signal = of_kernel(kLost);

  ASSERT_TRUE(signal.has_value());
  EXPECT_EQ(signal->node, "gpu-01");
  EXPECT_EQ(signal->severity, Severity::kReboot);
  EXPECT_EQ(signal->alertname, "log xid 79");
  EXPECT_TRUE(signal->foreign);
  EXPECT_EQ(signal->starts_at, WallTime(std::chrono::seconds(1'790'000'000)));
}

TEST(LogFindings, AreWhatTheCatalogueSaysOfASwitchsLines) {
  const auto signal =
      of_kernel("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up");

  ASSERT_TRUE(signal.has_value());
  EXPECT_EQ(signal->severity, Severity::kReset);
  EXPECT_EQ(signal->alertname, "log sxid 20034");
}

TEST(LogFindings, AskForNothingIfALineIsHarmless) {
  EXPECT_FALSE(of_kernel("NVRM: Xid (PCI:0000:4e:00): 63, pid=77, name=python, Row Remapper"))
      << "recorded, and a reset later applies it";
  EXPECT_FALSE(of_kernel("NVRM: Xid (PCI:0000:4e:00): 31, pid=77, name=python, Ch 00000008"));
  EXPECT_FALSE(
      of_kernel("NVRM: Xid (PCI:0000:4e:00): 13, pid=77, name=python, Graphics Exception"));
  EXPECT_FALSE(of_kernel("NVRM: Xid (PCI:0000:4e:00): 4711, pid=77, name=python"));
  EXPECT_FALSE(of_kernel(
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 11004, Non-fatal, Link 32 ingress ACL"));
  EXPECT_FALSE(
      of_kernel("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, "
                "skipping further processing"))
      << "mostly the end of a program";
  EXPECT_FALSE(of_kernel("usb 1-1: new device"));
}

// Receivers of notifications know an error by its class.
TEST(LogFindings, HaveTheClassOfTheirError) {
  const auto class_of = [](const std::string& line) { return of_kernel(line).value().error_class; };
  EXPECT_EQ(class_of(kLost), "XID_CRITICAL_79");
  EXPECT_EQ(class_of("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM"),
            "XID_ERROR");
  EXPECT_EQ(class_of("NVRM: GPU 0000:29:00.0: GPU has fallen off the bus."), "XID_CRITICAL_79");
  const auto of_pod =
      signal_of_pod_line(line_of("CUDA error: invalid device ordinal"), LokiRules());
  EXPECT_EQ(of_pod.value().error_class, "GPU_HEALTH_ERROR");
}

TEST(LogFindings, NeedANodeThatCanBeOne) {
  EXPECT_FALSE(of_kernel(kLost, ""));
  EXPECT_FALSE(of_kernel(kLost, "../etc"));
  EXPECT_FALSE(signal_of_kernel_line({1, {}, kLost}, xid::Catalogue(), LokiRules()));
}

TEST(LogFindings, AreOneForANodeAndCode) {
  const auto first = of_kernel(kLost), again = of_kernel(kLost), other = of_kernel(kLost, "gpu-02");

  ASSERT_TRUE(first && again && other);
  EXPECT_EQ(first->fingerprint, again->fingerprint);
  EXPECT_NE(first->fingerprint, other->fingerprint);
  EXPECT_TRUE(first->fingerprint.starts_with("loki."));
}

TEST(LogFindings, OfPodsAreWhatThePolicySays) {
  LokiRules rules;
  const LogLine bad = line_of("RuntimeError: CUDA error: invalid device ordinal");

  const auto signal = signal_of_pod_line(bad, rules);
  ASSERT_TRUE(signal.has_value());
  EXPECT_EQ(signal->severity, Severity::kReset);
  EXPECT_FALSE(signal_of_pod_line(line_of("all is well"), rules));
  rules.pod_lines[0].severity = Severity::kMonitor;
  const auto recorded = signal_of_pod_line(bad, rules);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->severity, Severity::kMonitor);
}

}  // namespace
}  // namespace gpuward::remediator
