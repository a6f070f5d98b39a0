#include "exporter/checks/result_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

CheckResult failed() {
  CheckResult result;
  result.check = "0-nvidia-smi";
  result.status = CheckStatus::kFail;
  result.severity = Severity::kReboot;
  result.details = "Xid 79 \"quoted\"";
  result.started = WallTime(std::chrono::seconds(1'800'000'000));
  result.duration = std::chrono::milliseconds(1'400);
  return result;
}

// CONTRACTS A: one result.
TEST(ResultRecord, HasTheSevenFieldsOfTheReplacedSuite) {
  const auto json = parse_json(to_result_json({"", "node-1", "p5.48xlarge"}, failed()));
  ASSERT_TRUE(json);
  EXPECT_EQ(json->dump(),
            R"({"check":"0-nvidia-smi","details":"Xid 79 \"quoted\"","hostname":"node-1",)"
            R"("instance_type":"p5.48xlarge","severity":"REBOOT","status":"FAIL",)"
            R"("timestamp":"2027-01-15T08:00:01Z"})");
}

TEST(ResultRecord, OfAPassHasNoSeverityAndAnUnknownTypeIsSaid) {
  CheckResult result = failed();
  result.status = CheckStatus::kPass;
  result.severity = Severity::kNone;
  const auto json = parse_json(to_result_json({"", "node-1", ""}, result));
  ASSERT_TRUE(json);
  EXPECT_EQ(string_at(*json, "severity", "x"), "");
  EXPECT_EQ(string_at(*json, "instance_type"), "unknown");
  EXPECT_EQ(string_at(*json, "status"), "PASS");
}

TEST(ResultRecord, IsOneLineWhateverTheDetails) {
  CheckResult result = failed();
  result.details = "two\nlines \xff";
  EXPECT_EQ(to_result_json({}, result).find('\n'), std::string::npos);
}

TEST(ResultRecord, FitsByItsDetailsAlone) {
  CheckResult result = failed();
  result.details = std::string(1024, '\x01');  // six characters each, in JSON
  const std::string line = to_result_json_within(4096, {"", "node-1", ""}, result);
  EXPECT_LE(line.size(), 4096U);
  const auto json = parse_json(line);
  ASSERT_TRUE(json) << line;
  EXPECT_EQ(string_at(*json, "status"), "FAIL");
  EXPECT_EQ(string_at(*json, "severity"), "REBOOT");
  EXPECT_GT(string_at(*json, "details").size(), 500U);
  EXPECT_EQ(to_result_json_within(4096, {}, failed()), to_result_json({}, failed()));
}

TEST(SafeName, ReplacesEachRunOfForeignCharacters) {
  EXPECT_EQ(safe_name("0-nvidia-smi"), "0-nvidia-smi");
  EXPECT_EQ(safe_name("a b//c"), "a-b-c");
  EXPECT_EQ(safe_name("../x"), "..-x");
}

TEST(ResultFile, IsWrittenUnderTheChecksName) {
  const support::TempDir folder;
  const ResultPlace place{folder / "results", "node-1", "p5.48xlarge"};
  ASSERT_TRUE(write_result(place, failed()));
  const auto text = read_file(folder / "results/check-0-nvidia-smi.json");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, to_result_json(place, failed()) + "\n");
}

// A reader that has the old file open reads all of it.
TEST(ResultFile, ReplacesTheOldOneWhole) {
  const support::TempDir folder;
  const auto file = folder.write("check-0-nvidia-smi.json", "the old one\n");
  std::filesystem::create_hard_link(file, folder / "still-open");
  ASSERT_TRUE(write_result({folder.path(), "node-1", ""}, failed()));
  EXPECT_EQ(read_file(folder / "still-open").value(), "the old one\n");
  EXPECT_NE(read_file(file).value(), "the old one\n");
}

TEST(ResultFile, ThatCannotBeWrittenSaysWhere) {
  const support::TempDir folder;
  static_cast<void>(folder.write("file", ""));
  const auto status = write_result({folder / "file", "", ""}, failed());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::HasSubstr((folder / "file").string()));
}

TEST(Summary, CountsFailuresAndNamesTheWorst) {
  const auto json = parse_json(
      to_summary_json({"/results", "node-1", "p5.48xlarge"}, {"lightweight", 4, {failed()}, {}}));
  ASSERT_TRUE(json);
  EXPECT_EQ(string_at(*json, "status"), "FAIL");
  EXPECT_EQ(string_at(*json, "severity"), "REBOOT");
  EXPECT_EQ(member_at(*json, "total_checks"), 4);
  EXPECT_EQ(member_at(*json, "completed_checks"), 1);
  EXPECT_EQ(member_at(*json, "failures"), 1);
  EXPECT_EQ(string_at(*json, "results_dir"), "/results");
}

}  // namespace
}  // namespace gpuward::exporter
