#include "remediator/policy/repairer_signs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "remediator/policy/policy.h"
#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RepairerSigns, HaveOneKeyEach) {
  std::set<std::string> keys;
  for (const RepairerSign& sign : known_repairer_signs())
    EXPECT_TRUE(keys.insert(sign.key).second) << sign.key;
}

TEST(RepairerSigns, AreAddedAndIgnoredByThePolicy) {
  const auto policy = parse_policy(
      "other_repairers:\n"
      "  ignore: [DeletionCandidateOfClusterAutoscaler]\n"
      "  signs:\n"
      "    - {name: our updater, annotation: example.com/update, at_rest: [done, \"\"]}\n"
      "    - {name: our fencing, taint: example.com/fenced}\n");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;

  const auto& signs = policy->repairer_signs;
  ASSERT_EQ(signs.size(), known_repairer_signs().size() + 1);
  EXPECT_EQ(std::ranges::count(signs, "DeletionCandidateOfClusterAutoscaler", &RepairerSign::key),
            0);
  const RepairerSign& updater = signs[signs.size() - 2];
  EXPECT_EQ(updater.kind, SignKind::kOfAnnotation);
  EXPECT_EQ(updater.key, "example.com/update");
  EXPECT_EQ(updater.who, "our updater is working on the node");
  EXPECT_THAT(updater.at_rest, ElementsAre("done", ""));
  EXPECT_EQ(signs.back().kind, SignKind::kOfTaint);
  EXPECT_THAT(signs.back().at_rest, IsEmpty());
}

TEST(RepairerSigns, NameEveryFault) {
  const auto fault_of = [](const std::string& section) {
    const auto policy = parse_policy("other_repairers: " + section + "\n");
    return policy ? std::string() : policy.error().message;
  };

  EXPECT_THAT(fault_of("{ignore: [example.com/none]}"), HasSubstr("does not know the sign"));
  EXPECT_THAT(fault_of("{signs: [{taint: a}]}"), HasSubstr("name"));
  EXPECT_THAT(fault_of("{signs: [{name: a}]}"), HasSubstr("needs a taint, annotation or label"));
  EXPECT_THAT(fault_of("{signs: [{name: a, taint: b, label: c}]}"), HasSubstr("only one of taint"));
}

}  // namespace
}  // namespace gpuward::remediator
