#include "remediator/inbox/sources/triage_source.h"

#include <gmock/gmock.h>

#include "core/aws/client.h"
#include "remediator/inbox/sources/log_findings.h"
#include "remediator/inbox/sources/node_line_source.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "tests/support/wait.h"
#include "tests/unit/core/kube/scripted_client.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TriageSourceTest : public ::testing::Test {
 protected:
  TriageSourceTest() : policy_(Policy{}) {
    TriageRules rules;
    rules.kind = "openai";
    rules.url = model_.url();
    rules.model = "qwen";
    rules.timeout = std::chrono::seconds(20);
    triage_.take_over(*triage_.prepare(rules));
  }
  void find_on(const std::string& node) {
    const auto before = triage_.findings().size();
    triage_.offer({.node = node, .text = "NVRM: odd", .at = clock_.wall()});
    ASSERT_TRUE(
        support::wait_until([&] { return triage_.findings().size() > before; }, "a finding"));
  }
  std::vector<AlertSignal> look() {
    const auto found = source_.look();
    EXPECT_TRUE(found);
    return found ? found->signals : std::vector<AlertSignal>();
  }

  fakes::FakeClock clock_;
  kube::ScriptedClient script_;
  aws::AwsClient aws_{script_, {}, clock_};
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  fakes::FakeModel model_{fakes::advice_text("XID_ERROR")};
  CurrentPolicy policy_;
  ListedEvidence known_;
  Triage triage_{{.services = {.aws = aws_, .clock = clock_},
                  .log = log_,
                  .known_of = [](const std::string&) { return std::vector<std::string>(); }}};
  TriageSource source_{triage_, policy_, known_, clock_};
};

TEST_F(TriageSourceTest, GivesForeignEvidenceOfAClass) {
  find_on("gpu-01");

  const auto signals = look();

  ASSERT_THAT(signals, SizeIs(1));
  EXPECT_EQ(signals[0].node, "gpu-01");
  EXPECT_TRUE(signals[0].foreign);
  EXPECT_TRUE(signals[0].firing);
  EXPECT_EQ(signals[0].severity, Severity::kMonitor);
  EXPECT_EQ(signals[0].error_class, "XID_ERROR");
  EXPECT_EQ(signals[0].alertname, "triage XID_ERROR");
  EXPECT_THAT(signals[0].advice, HasSubstr("% sure, asked about: "));
  EXPECT_TRUE(signals[0].fingerprint.starts_with(kTriageOrigin));
}

TEST_F(TriageSourceTest, GivesAFindingAgainUntilItIsDurable) {
  find_on("gpu-01");
  (void)look();
  EXPECT_THAT(look(), SizeIs(1));

  ASSERT_TRUE(source_.settle());

  EXPECT_THAT(look(), IsEmpty());
}

TEST_F(TriageSourceTest, DropsAFindingOfALineThatIsOver) {
  find_on("gpu-01");
  clock_.advance(minutes(15));

  EXPECT_THAT(look(), IsEmpty());
}

class FixedLines final : public NodeLines {
 public:
  [[nodiscard]] std::vector<NodeLine> unknown_lines() const override { return lines; }
  std::vector<NodeLine> lines;
};

class NodeLineSourceTest : public TriageSourceTest {
 protected:
  NodeLineSourceTest() {
    lines_.lines = {{.node = "gpu-01", .text = "NVRM: odd", .at = clock_.wall()}};
  }
  // Returns the number of lines that were shown.
  std::size_t show() {
    const auto found = shown_->look();
    EXPECT_TRUE(found);
    return found ? found->read : 0;
  }
  FixedLines lines_;
  std::unique_ptr<NodeLineSource> shown_ =
      std::make_unique<NodeLineSource>(lines_, triage_, policy_, clock_);
};

TEST_F(NodeLineSourceTest, ShowsALineOnceAsLongAsItStands) {
  EXPECT_EQ(show(), 1U);
  EXPECT_EQ(show(), 0U);

  lines_.lines[0].at += std::chrono::seconds(1);
  EXPECT_EQ(show(), 1U) << "it was logged again";
}

TEST_F(NodeLineSourceTest, ShowsNoLineThatIsOverToAModelOfTheNextLeader) {
  clock_.advance(minutes(16));
  shown_ = std::make_unique<NodeLineSource>(lines_, triage_, policy_, clock_);

  EXPECT_EQ(show(), 0U);
}

TEST_F(NodeLineSourceTest, ShowsALineAgainThatNobodyWasAskedAbout) {
  triage_.take_over({});
  EXPECT_EQ(show(), 1U);
  EXPECT_EQ(show(), 1U) << "nobody has taken it";
}

TEST_F(TriageSourceTest, EndsAFindingThatWasQuietForAWhile) {
  find_on("gpu-01");
  known_.all = look();
  ASSERT_TRUE(source_.settle());
  clock_.advance(minutes(10));
  find_on("gpu-01");
  (void)look();
  ASSERT_TRUE(source_.settle());
  clock_.advance(minutes(10));
  EXPECT_THAT(look(), IsEmpty());

  clock_.advance(minutes(6));

  const auto ended = look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_FALSE(ended[0].firing);
}

TEST(TriageOrder, IsForeignAndAtMostAResetWhateverTheFinding) {
  for (const auto severity : {AdvisedSeverity::kMonitor, AdvisedSeverity::kReset}) {
    const AlertSignal signal =
        signal_of_finding({.node = "gpu-01", .error_class = "X", .severity = severity, .at = {}});
    EXPECT_TRUE(signal.foreign);
    EXPECT_LE(signal.severity, Severity::kReset);
  }
}

TEST(UnknownKernelLine, IsOneThatTheCatalogueHasNoWordFor) {
  const xid::Catalogue catalogue;
  const auto is_unknown = [&](const std::string& text) {
    return is_unknown_kernel_line({1, {}, text}, catalogue);
  };

  EXPECT_TRUE(is_unknown("NVRM: Xid (PCI:0000:4e:00): 4711, pid=77, name=python"));
  EXPECT_TRUE(is_unknown("NVRM: GPU0 something odd"));
  EXPECT_FALSE(is_unknown("NVRM: Xid (PCI:0000:4e:00): 31, pid=77, name=python"));
  EXPECT_FALSE(is_unknown("NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, gone"));
  EXPECT_FALSE(is_unknown("NVRM: GPU at PCI:0000:4e:00: GPU-12345678-aaaa-bbbb-cccc-123456789012"));
  EXPECT_FALSE(is_unknown("NVRM: The NVIDIA GPU 0000:4e:00.0"));
  EXPECT_FALSE(is_unknown("NVRM: fallen off the bus and is not responding to commands."));
  EXPECT_FALSE(is_unknown(
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Data {0x00000001, 0x00000002}"));
}

}  // namespace
}  // namespace gpuward::remediator
