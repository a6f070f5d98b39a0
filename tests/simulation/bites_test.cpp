// That the simulation bites: without any one of the guards some invariant breaks soon.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr std::uint64_t kSeeds = 2000;

class Bites : public ::testing::TestWithParam<SabotageName> {};

TEST_P(Bites, WhereTheGuardIsOff) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome = run_seed(seed, Size::kAny, GetParam().sabotage);
    if (outcome.holds()) continue;
    RecordProperty("seed", std::to_string(seed));
    RecordProperty("invariant", outcome.invariant);
    return;
  }
  FAIL() << "no invariant breaks without " << GetParam().name;
}

std::string in_one_word(const ::testing::TestParamInfo<SabotageName>& guard) {
  std::string word;
  bool begins = true;
  for (const char c : guard.param.name) {
    if (c != '-') word += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '-';
  }
  return word;
}

INSTANTIATE_TEST_SUITE_P(EachGuard, Bites, ::testing::ValuesIn(kSabotages), in_one_word);

}  // namespace
}  // namespace gpuward::remediator::simulation
