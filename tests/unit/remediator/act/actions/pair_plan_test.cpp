// Tests which nodes are tested together next, and which verdicts follow.
#include "remediator/act/actions/pair_plan.h"

#include <gmock/gmock.h>

#include <bit>

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

PairTest test_of(const std::string& first, const std::string& second, PairResult result,
                 const std::string& words = {}) {
  return {.first = first, .second = second, .result = result, .words = words};
}

std::vector<std::string> nodes(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back("gpu-" + std::to_string(i / 10) + std::to_string(i % 10));
  return names;
}

TEST(PairPlan, BeginsWithDisjointPairs) {
  EXPECT_THAT(plan_pairs(nodes(5), {}).next,
              ElementsAre(Pair("gpu-00", "gpu-01"), Pair("gpu-02", "gpu-03")));
  EXPECT_THAT(plan_pairs(nodes(5), {}).verdicts, IsEmpty());
}

TEST(PairPlan, TestsNoMoreThanEightPairsAtATime) {
  EXPECT_THAT(plan_pairs(nodes(40), {}).next, SizeIs(8));
  std::vector<PairTest> running;
  for (std::size_t i = 0; i < 12; i += 2)
    running.push_back(test_of(nodes(12)[i], nodes(12)[i + 1], PairResult::kRunning));

  EXPECT_THAT(plan_pairs(nodes(40), running).next, SizeIs(2));
}

TEST(PairPlan, TakesEachThatNothingIsKnownOfToAGoodOneOfItsOwn) {
  const auto plan = plan_pairs(nodes(5), {test_of("gpu-00", "gpu-01", PairResult::kPassed),
                                          test_of("gpu-02", "gpu-03", PairResult::kFailed)});

  EXPECT_THAT(plan.next, UnorderedElementsAre(Pair("gpu-00", "gpu-02"), Pair("gpu-01", "gpu-03")));
}

// A failed test from before any node was known to be good counts once the partner passes another:
// no new test is needed.
TEST(PairPlan, KnowsTheCulpritBySomethingThatIsFoundLater) {
  const auto plan = plan_pairs(nodes(3), {test_of("gpu-00", "gpu-01", PairResult::kFailed),
                                          test_of("gpu-01", "gpu-02", PairResult::kPassed)});

  EXPECT_THAT(plan.next, IsEmpty());
  EXPECT_THAT(plan.verdicts,
              ElementsAre(Pair("gpu-00", PairFinding::kBad), Pair("gpu-01", PairFinding::kGood),
                          Pair("gpu-02", PairFinding::kGood)));
}

TEST(PairPlan, LeavesThoseAloneThatSomebodyElseTestsAndSaysNothingUntilThen) {
  const auto plan = plan_pairs(nodes(2), {}, {"gpu-01"});

  EXPECT_THAT(plan.next, IsEmpty());
  EXPECT_THAT(plan.verdicts, IsEmpty());
}

TEST(PairPlan, SaysNothingWhileATestIsUnderWay) {
  const auto plan = plan_pairs(nodes(3), {test_of("gpu-00", "gpu-02", PairResult::kPassed),
                                          test_of("gpu-00", "gpu-01", PairResult::kRunning)});

  EXPECT_THAT(plan.next, IsEmpty());
  EXPECT_THAT(plan.verdicts, IsEmpty());
}

TEST(PairPlan, TriesOnceMoreWhatCouldNotBeTold) {
  std::vector<PairTest> tests{test_of("gpu-00", "gpu-01", PairResult::kUnknown)};
  EXPECT_THAT(plan_pairs(nodes(2), tests).next, ElementsAre(Pair("gpu-00", "gpu-01")));
  tests.push_back(tests.front());

  const auto plan = plan_pairs(nodes(2), tests);

  EXPECT_THAT(plan.next, IsEmpty());
  EXPECT_EQ(plan.verdicts.at("gpu-00"), PairFinding::kUnknown);
  EXPECT_EQ(plan.verdicts.at("gpu-01"), PairFinding::kUnknown);
}

TEST(PairPlan, PrefersAPartnerThatItWasNotTriedWith) {
  EXPECT_THAT(plan_pairs(nodes(3), {test_of("gpu-00", "gpu-01", PairResult::kUnknown)}).next,
              ElementsAre(Pair("gpu-00", "gpu-02")));
}

TEST(PairPlan, CannotTellWhichOfTwoItIs) {
  const auto plan = plan_pairs(nodes(2), {test_of("gpu-00", "gpu-01", PairResult::kFailed)});

  EXPECT_THAT(plan.verdicts, ElementsAre(Pair("gpu-00", PairFinding::kUnknown),
                                         Pair("gpu-01", PairFinding::kUnknown)));
}

// A partner that has left keeps its weight: a pass with it acquits, a failure with it counts.
TEST(PairPlan, KeepsWhatWasFoundWithANodeThatHasLeft) {
  const std::vector<PairTest> tests{test_of("gpu-00", "gpu-09", PairResult::kPassed),
                                    test_of("gpu-01", "gpu-09", PairResult::kFailed)};

  EXPECT_THAT(plan_pairs({"gpu-00", "gpu-01"}, tests).verdicts,
              ElementsAre(Pair("gpu-00", PairFinding::kGood), Pair("gpu-01", PairFinding::kBad)));
}

TEST(PairPlan, EndsAtItsLongestRecord) {
  std::vector<PairTest> tests;
  const auto all = nodes(64);
  for (std::size_t i = 0; tests.size() < kMostPairTests; ++i)
    tests.push_back(test_of(all[i / 63], all[1 + i % 63], PairResult::kFailed));

  const auto plan = plan_pairs(all, tests);

  EXPECT_THAT(plan.next, IsEmpty());
  EXPECT_THAT(plan.verdicts, SizeIs(64));
}

// Two healthy nodes pass together. A pair with a culprit in it fails.
TEST(PairPlan, FindsExactlyTheCulpritsHoweverManyTheyAre) {
  for (std::size_t count = 2; count <= 10; ++count) {
    const auto members = nodes(count);
    for (unsigned culprits = 0; culprits < (1U << count); ++culprits) {
      const auto is_culprit = [&](const std::string& node) {
        const auto at = std::ranges::find(members, node) - members.begin();
        return ((culprits >> at) & 1U) != 0;
      };
      if (count - static_cast<std::size_t>(std::popcount(culprits)) < 2) continue;
      std::vector<PairTest> tests;
      PairPlan plan;
      for (std::size_t round = 0; plan.verdicts.empty(); ++round) {
        ASSERT_LE(round, 3 * count) << "culprits " << culprits << " of " << count;
        plan = plan_pairs(members, tests);
        std::set<std::string> in_round;
        for (const auto& [first, second] : plan.next) {
          ASSERT_LT(first, second);
          ASSERT_TRUE(in_round.insert(first).second && in_round.insert(second).second);
          tests.push_back(test_of(
              first, second,
              is_culprit(first) || is_culprit(second) ? PairResult::kFailed : PairResult::kPassed));
        }
      }
      for (const std::string& node : members) {
        ASSERT_EQ(plan.verdicts.at(node), is_culprit(node) ? PairFinding::kBad : PairFinding::kGood)
            << node << " of " << count << ", culprits " << culprits;
      }
    }
  }
}

TEST(PairWords, NameThePairs) {
  const std::vector<PairTest> tests{
      test_of("gpu-00", "gpu-01", PairResult::kFailed, "gpu-00: 210 GB/s"),
      test_of("gpu-01", "gpu-02", PairResult::kPassed)};

  EXPECT_EQ(pair_words("gpu-00", PairFinding::kBad, tests),
            "fails with gpu-01, which passes with gpu-02: gpu-00: 210 GB/s");
  EXPECT_EQ(pair_words("gpu-02", PairFinding::kGood, tests), "passed with gpu-01");
}

TEST(PairWords, SayThatNobodyCanTellAndWhy) {
  EXPECT_EQ(pair_words("gpu-00", PairFinding::kUnknown,
                       {test_of("gpu-00", "gpu-01", PairResult::kFailed, "it hangs")}),
            "cannot tell whether this node is the culprit: it fails with gpu-01, which does not "
            "pass with any other node: it hangs");
  EXPECT_THAT(pair_words("gpu-00", PairFinding::kUnknown,
                         {test_of("gpu-00", "gpu-01", PairResult::kUnknown, "no libnccl")}),
              HasSubstr("the test with gpu-01 has no result: no libnccl"));
  EXPECT_THAT(pair_words("gpu-00", PairFinding::kUnknown, {}),
              HasSubstr("not tested with any other node"));
}

TEST(PairRecord, IsReadAsItWasWritten) {
  const std::vector<PairTest> tests{
      {.first = "gpu-00",
       .second = "gpu-01",
       .result = PairResult::kRunning,
       .since = WallTime(std::chrono::milliseconds(1'700'000'000'123)),
       .token = "secret",
       .is_made = true},
      test_of("gpu-02", "gpu-03", PairResult::kUnknown, "why")};

  const auto read = parse_pair_tests(pair_tests_text(tests));

  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].first, "gpu-00");
  EXPECT_EQ(read[0].second, "gpu-01");
  EXPECT_EQ(read[0].since, tests[0].since);
  EXPECT_EQ(read[0].token, "secret");
  EXPECT_TRUE(read[0].is_made);
  EXPECT_EQ(read[1].result, PairResult::kUnknown);
  EXPECT_EQ(read[1].words, "why");
  EXPECT_FALSE(read[1].is_made);
  const PairFindings verdicts{{"gpu-00", PairFinding::kGood}, {"gpu-01", PairFinding::kBad}};
  EXPECT_EQ(parse_pair_findings(pair_findings_text(verdicts)), verdicts);
}

TEST(PairRecord, OfSpoiltWordsIsEmpty) {
  EXPECT_THAT(parse_pair_tests("[{\"first\": \"a\"}, 7"), IsEmpty());
  EXPECT_THAT(parse_pair_tests("[{\"first\": \"a\"}, 7]"), IsEmpty());
  EXPECT_THAT(parse_pair_findings("= gpu-00 gpu-01=great"), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
