// That the simulation bites: without any one of the guards some invariant breaks soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

// Where the first one is late, as `simulation --bites 0:9999` finds it: asked before all others.
// Where the simulation has changed since, a few more are looked at.
struct Found {
  std::string_view guard;
  std::uint64_t seed;
};
constexpr std::uint64_t kMoreSeeds = 300;
constexpr auto kLastFound = std::to_array<Found>({
    {"late-restart", 4829},   {"cooldown", 4071},
    {"partition", 617},       {"leases", 617},
    {"pod-identity", 3878},   {"claims", 3147},
    {"signs-of-life", 422},   {"proof", 2473},
    {"off-proof", 19},        {"out-of-service", 105},
    {"proofs-of-death", 401}, {"drill-label", 2},
    {"drill-report", 300},    {"drill-alerts", 33},
    {"instance", 1967},       {"record-cordon", 1294},
    {"job-boot", 494},        {"unknown-condition", 1192},
    {"call-fence", 980},      {"budget-answer", 942},
    {"quarantine", 804},      {"lost-list", 772},
    {"part-answers", 736},    {"give-back", 529},
    {"approval-guard", 523},  {"zone", 493},
    {"ledger-count", 449},    {"terminating", 839},
    {"window", 388},          {"called", 370},
    {"deletions", 366},       {"taint-order", 362},
    {"versions-back", 2660},  {"watch-version", 326},
    {"left-jobs", 271},       {"failed-answers", 231},
    {"told-again", 212},      {"silence", 198},
    {"turns", 179},           {"serials", 150},
    {"log-cursor", 129},      {"sweep", 126},
    {"last-permit", 121},     {"cluster", 113},
    {"arrivals", 110},        {"kernel-evidence", 106},
    {"announced-boot", 129},  {"machine-replaced", 101},
    {"job-run", 96},          {"job-name", 96},
    {"ledger-version", 90},   {"pool-mode", 89},
    {"announced-late", 81},   {"storm", 80},
    {"returned", 73},         {"announced-early", 63},
    {"announced-over", 63},   {"boot", 59},
    {"min-healthy", 45},      {"pool", 37},
    {"foreign-cordon", 35},   {"settled", 31},
    {"terminate-budget", 29}, {"protection", 29},
    {"timed-exclusion", 28},  {"disagreement", 28},
    {"measured", 25},         {"earlier-episode", 23},
    {"attempts", 23},         {"timeout", 1},  // what breaks first takes a minute
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
  for (std::uint64_t seed = 0; seed < kMoreSeeds; ++seed) {
    if (breaks_at(seed)) return;
  }
  FAIL() << "no invariant breaks without " << GetParam().name
         << " at the seeds that are listed; `simulation --bites 0:9999` finds others";
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
