#include "core/metrics/text_format.h"

#include <gtest/gtest.h>

#include "core/runtime/text.h"
#include "tests/support/process.h"
#include "tests/support/require.h"

namespace gpuward::metrics {
namespace {

Family one_sample(std::string_view name, std::string_view help, const std::string& label_value) {
  Family family{{name, help, Type::kGauge, {"line"}}};
  family.add({label_value}, 1);
  return family;
}

TEST(TextFormat, WritesHelpTypeAndSamplesInTheOrderGiven) {
  Families families;
  Family& errors =
      declare(families, {"gpuward_xid_errors_total", "Errors.", Type::kCounter, {"gpu", "xid"}});
  errors.add({"0", "79"}, 3);
  errors.add({"1", "13"}, 0);

  const std::string text = to_text(families);

  EXPECT_EQ(text,
            "# HELP gpuward_xid_errors_total Errors.\n"
            "# TYPE gpuward_xid_errors_total counter\n"
            "gpuward_xid_errors_total{gpu=\"0\",xid=\"79\"} 3\n"
            "gpuward_xid_errors_total{gpu=\"1\",xid=\"13\"} 0\n");
}

TEST(TextFormat, WritesAHistogramWithABucketForEachBoundAndOneForAll) {
  Histogram durations({0.5, 10});
  for (const double seconds : {0.5, 3.0, 60.0}) durations.observe(seconds);
  Family family{{"gpuward_t_seconds", "T.", Type::kHistogram, {"verb"}}};
  family.add({"get"}, durations);

  EXPECT_EQ(to_text({family}),
            "# HELP gpuward_t_seconds T.\n"
            "# TYPE gpuward_t_seconds histogram\n"
            "gpuward_t_seconds_count{verb=\"get\"} 3\n"
            "gpuward_t_seconds_sum{verb=\"get\"} 63.5\n"
            "gpuward_t_seconds_bucket{verb=\"get\",le=\"0.5\"} 1\n"
            "gpuward_t_seconds_bucket{verb=\"get\",le=\"10\"} 2\n"
            "gpuward_t_seconds_bucket{verb=\"get\",le=\"+Inf\"} 3\n");
}

TEST(TextFormat, LeavesOutAFamilyWithoutSamples) {
  EXPECT_EQ(to_text({Family{{"gpuward_empty", "Nothing."}}}), "");
}

TEST(TextFormat, KeepsANewlineInHelpFromBreakingTheScrape) {
  const std::string text = to_text({one_sample("gpuward_a", "first\nsecond 1", "x")});

  EXPECT_EQ(text.find("\nsecond"), std::string::npos) << text;
}

TEST(TextFormat, MakesLabelValuesValidUtf8AndEscapesThem) {
  const std::string text =
      to_text({one_sample("gpuward_a", "A.", "bad \xff byte, \"quoted\" \\ and\nline")});

  EXPECT_TRUE(is_valid_utf8(text)) << text;
  EXPECT_NE(text.find(R"(\"quoted\" \\ and)"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

TEST(TextFormat, CutsEndlessLabelValues) {
  const std::string text = to_text({one_sample("gpuward_a", "A.", std::string(100'000, 'x'))});

  EXPECT_LT(text.size(), 2'000U);
}

TEST(TextFormat, KeepsMillisecondsOfTimestamps) {
  Families families;
  declare(families, {"gpuward_t_seconds", "T."}, 1795249476.125);

  EXPECT_NE(to_text(families).find("gpuward_t_seconds 1795249476.125\n"), std::string::npos);
}

TEST(TextFormat, IsReadByPromtoolWhateverTheValues) {
  GPUWARD_REQUIRE(support::why_no_program("promtool"));
  Families families = {one_sample("gpuward_a_info", "What\nis \\ it.", "\xff\xfe\n\"")};
  declare(families, {"gpuward_other_errors_total", "B.", Type::kCounter}, 1e15);

  const auto outcome =
      support::Process::run({.argv = {"promtool", "check", "metrics"}, .input = to_text(families)});

  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

}  // namespace
}  // namespace gpuward::metrics
