// `gpuward-exporter inject` beside a running exporter: what a drill shows, and what it leaves
// unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kActiveXid =
    "gpuward_drill_active{check=\"xid\",code=\"79\",pci_bus_id=\"0000:4e:00\",gpu=\"0\","
    "severity=\"reboot\"}";

class ExporterInject : public testing::Test {
 protected:
  support::Process::Outcome inject(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {exporter_binary().string(), "inject",
                                         "--state.path=" + exporter.file("state").string()});
    auto outcome = support::Process::run({.argv = std::move(arguments)});
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(support::Process::Outcome{});
  }

  RunningExporter exporter;
};

TEST_F(ExporterInject, ShowsAnXidAsADrillAndNowhereElse) {
  exporter.start();

  const auto outcome = inject({"xid", "79", "--gpu=0"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  EXPECT_THAT(outcome.output,
              HasSubstr("drill started: xid 79 on 0000:4e:00, severity reboot, until "));
  EXPECT_THAT(outcome.output, HasSubstr("gpuward.dev/drill=allowed"));
  EXPECT_TRUE(exporter.has("gpuward_drill_severity", "3"));
  EXPECT_TRUE(exporter.has(kActiveXid, "1"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");
  EXPECT_EQ(exporter.value("gpuward_node_confirmed_severity"), "0");
  EXPECT_EQ(exporter.value(xid_series(79)), "0") << "no drill is counted as an Xid";
  EXPECT_THAT(exporter.metrics(), Not(HasSubstr("gpuward_finding{")));
  struct stat folder{};
  ASSERT_EQ(::stat(exporter.file("state/drill.d").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777U, 0700U) << "nobody else may inject anything";
}

TEST_F(ExporterInject, HidesNoRealFault) {
  exporter.start();
  exporter.append_log(xid_line(79));
  ASSERT_TRUE(exporter.has("gpuward_node_severity", "3"));

  ASSERT_EQ(inject({"xid", "64", "--gpu=0"}).exit_code, 0);
  ASSERT_TRUE(exporter.has("gpuward_drill_severity", "4"));
  EXPECT_EQ(inject({"end"}).exit_code, 0);

  EXPECT_TRUE(exporter.has("gpuward_drill_severity", "0"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "3");
  EXPECT_EQ(exporter.value(xid_series(79)), "1");
}

TEST_F(ExporterInject, MakesTheFindingsOfTheRulesOfEccAndOfALostGpu) {
  exporter.start();

  EXPECT_THAT(inject({"ecc", "2", "--gpu=0000:4e:00"}).output,
              HasSubstr("drill started: gpu ecc_uncorrected on 0000:4e:00, severity reset"));
  EXPECT_THAT(inject({"gpu-lost", "--gpu=0"}).output,
              HasSubstr("drill started: gpu gpu_lost on 0000:4e:00, severity reboot"));
}

TEST_F(ExporterInject, EndsWithTheExporterAndDoesNotComeBack) {
  exporter.start();
  ASSERT_EQ(inject({"xid", "79", "--gpu=0"}).exit_code, 0);
  ASSERT_TRUE(exporter.has("gpuward_drill_severity", "3"));

  exporter.start();

  EXPECT_TRUE(exporter.has("gpuward_drill_severity", "0"));
}

TEST_F(ExporterInject, RefusesWhatIsNotThereAndWhatNobodyAnswers) {
  EXPECT_EQ(inject({"xid", "79", "--gpu=0"}).exit_code, 1) << "nobody runs";
  exporter.start();

  const auto outcome = inject({"xid", "79", "--gpu=77"});

  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("refused: there is no GPU 77; known GPUs: 0 (0000:4e:00)"));
  EXPECT_EQ(inject({"xid", "79", "--gpu=0", "--for=2h"}).exit_code, 2);
  EXPECT_EQ(inject({"xid", "0", "--gpu=0"}).exit_code, 2);
  EXPECT_EQ(exporter.value("gpuward_drill_severity"), "0");
}

}  // namespace
}  // namespace gpuward::exporter
