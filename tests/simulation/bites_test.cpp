// That the simulation bites: without any one of the guards some invariant breaks soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr std::uint64_t kSeeds = 2000;

// Where it took long to find the first one: tried before all others, so that a run need not look
// for it anew. Where the simulation has changed since, it is looked for all the same.
struct Found {
  std::string_view guard;
  std::uint64_t seed;
};
constexpr auto kLastFound = std::to_array<Found>({
    {"pod-identity", 9245},  // one a line
    {"claims", 3147},       {"instance", 1855},      {"call-fence", 980},
    {"last-permit", 980},   {"late-restart", 857},   {"budget-answer", 795},
    {"part-answers", 736},  {"called", 632},         {"zone", 620},
    {"taint-order", 487},   {"silence", 453},        {"ledger-count", 449},
    {"proof", 386},         {"versions-back", 335},  {"failed-answers", 231},
    {"told-again", 212},    {"approval-guard", 183}, {"machine-replaced", 178},
    {"breaker", 164},       {"serials", 150},        {"cluster", 131},
    {"record-cordon", 115}, {"arrivals", 110},       {"kernel-evidence", 106},
    {"ledger-version", 90}, {"storm", 80},           {"old-alerts", 76},
    {"returned", 73},       {"begin-anew", 62},      {"boot", 59},
    {"pool", 37},           {"timeout", 1},          {"foreign-cordon", 35},
    {"settled", 31},
});

class Bites : public ::testing::TestWithParam<SabotageName> {
 protected:
  // Whether some invariant breaks.
  bool breaks_at(std::uint64_t seed) {
    const Outcome outcome = run_seed(seed, Size::kAny, GetParam().sabotage);
    if (outcome.holds()) return false;
    RecordProperty("seed", std::to_string(seed));
    RecordProperty("invariant", outcome.invariant);
    return true;
  }
};

TEST_P(Bites, WhereTheGuardIsOff) {
  const auto* const found = std::ranges::find(kLastFound, GetParam().name, &Found::guard);
  if (found != kLastFound.end() && breaks_at(found->seed)) return;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (breaks_at(seed)) return;
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
