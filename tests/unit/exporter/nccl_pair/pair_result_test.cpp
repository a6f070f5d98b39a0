#include "exporter/nccl_pair/pair_result.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"

namespace gpuward::exporter::nccl_pair {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = SideResult::Kind;

// 128 MiB twenty times in so many milliseconds, over two GPUs.
SideResult in_milliseconds(std::uint64_t ms, std::uint64_t wrong = 0) {
  return {.kind = Kind::kMeasured,
          .words = {},
          .figures = {.nanoseconds = {ms * 1'000'000}, .wrong_values = wrong}};
}

SideResult report(Kind kind) { return {.kind = kind, .words = "its words", .figures = {}}; }

PairResult judged(const SideResult& first, const SideResult& second, double wanted = 100,
                  const std::string& of_name = {}) {
  const Agreed agreed{.gpus = 1,
                      .nccl_version = 22304,
                      .min_bus_bandwidth = wanted,
                      .sizes = sizes_within(kSizes.front())};
  return judge(agreed, {Side{"node-a" + of_name, first}, Side{"node-b" + of_name, second}});
}

TEST(PairVerdict, PassesWhatIsFastEnoughOnTheSlowerSide) {
  // 2.68 GB in 10 ms are 268 GB/s, in 20 ms 134, in 40 ms 67.
  EXPECT_EQ(judged(in_milliseconds(10), in_milliseconds(20)).status, CheckStatus::kPass);
  EXPECT_EQ(judged(in_milliseconds(10), in_milliseconds(40)).status, CheckStatus::kFail);
  EXPECT_EQ(judged(in_milliseconds(40), in_milliseconds(10)).status, CheckStatus::kFail);
  EXPECT_THAT(judged(in_milliseconds(20), in_milliseconds(10)).details,
              AllOf(HasSubstr("NCCL 2.23.4"), HasSubstr("1 GPUs on each of node-a and node-b"),
                    HasSubstr("134.2 GB/s at 128 MiB"), HasSubstr("minimum is 100.0 GB/s")));
}

TEST(PairVerdict, FailsForWrongValuesHoweverFast) {
  const PairResult verdict = judged(in_milliseconds(1), in_milliseconds(1, 3));
  EXPECT_EQ(verdict.status, CheckStatus::kFail);
  EXPECT_THAT(verdict.details, HasSubstr("3 results are wrong"));
}

TEST(PairVerdict, IsTheWorstThatASideCanTell) {
  const SideResult measured = in_milliseconds(1);
  struct Case {
    SideResult first, second;
    CheckStatus status;
  };
  for (const Case& one :
       std::vector<Case>{{report(Kind::kFailed), measured, CheckStatus::kFail},
                         {report(Kind::kHangs), measured, CheckStatus::kFail},
                         {report(Kind::kFailed), report(Kind::kGaveUp), CheckStatus::kFail},
                         {report(Kind::kHangs), report(Kind::kHangs), CheckStatus::kFail},
                         {report(Kind::kUnknown), measured, CheckStatus::kError},
                         {report(Kind::kUnknown), report(Kind::kFailed), CheckStatus::kError},
                         {report(Kind::kUnknown), report(Kind::kGaveUp), CheckStatus::kError},
                         {report(Kind::kGaveUp), measured, CheckStatus::kError}}) {
    EXPECT_EQ(judged(one.first, one.second).status, one.status);
    EXPECT_EQ(judged(one.second, one.first).status, one.status) << "whichever side it is";
  }
}

TEST(PairVerdict, SaysWhoseWordsTheyAre) {
  EXPECT_THAT(judged(report(Kind::kGaveUp), report(Kind::kFailed)).details,
              AllOf(HasSubstr("its words (node-b)"), Not(HasSubstr("its words (node-a)"))));
  EXPECT_EQ(judged(report(Kind::kUnknown), report(Kind::kGaveUp)).details, "its words (node-a)");
}

// The remediator keeps the beginning of it.
TEST(PairVerdict, SaysTheCauseBeforeTheNamesOfNodes) {
  const std::string of_name(240, 'x');
  const auto begin_of = [&](const SideResult& first, const SideResult& second) {
    return judged(first, second, 100, of_name).details.substr(0, 80);
  };

  EXPECT_THAT(begin_of(in_milliseconds(40), in_milliseconds(10)),
              AllOf(HasSubstr("67.1 GB/s at 128 MiB"), HasSubstr("minimum is 100.0 GB/s")));
  EXPECT_THAT(begin_of(in_milliseconds(1, 3), in_milliseconds(1)),
              HasSubstr("3 results are wrong"));
  EXPECT_THAT(begin_of(report(Kind::kFailed), in_milliseconds(1)), HasSubstr("its words"));
  EXPECT_THAT(begin_of(in_milliseconds(1), report(Kind::kHangs)), HasSubstr("its words"));
}

TEST(PairVerdict, TakesNoOtherSizesThanWereAgreed) {
  SideResult more = in_milliseconds(1);
  more.figures.nanoseconds.push_back(1);
  EXPECT_EQ(judged(in_milliseconds(1), more).status, CheckStatus::kError);
}

TEST(PairVerdict, IsALineThatFitsALastWord) {
  const PairResult verdict = could_not_tell(std::string(5'000, '"') + "\xff\n");

  const std::string line = pair_result_line(verdict, "node-a", WallTime{});

  EXPECT_LT(line.size(), 4096U);
  const auto json = parse_json(line);
  ASSERT_TRUE(json);
  EXPECT_EQ(string_at(*json, "check"), "5-nccl-pair");
  EXPECT_EQ(string_at(*json, "status"), "error");
  EXPECT_EQ(string_at(*json, "hostname"), "node-a");
  EXPECT_EQ(string_at(*json, "timestamp"), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace gpuward::exporter::nccl_pair
