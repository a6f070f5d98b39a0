// That the simulation bites: without any one of the guards some invariant breaks soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

// Where it is seen soon, asked before all others; `simulation --bites 0:9999` finds the first ones.
// Where the simulation has changed since, a few more are looked at.
struct Found {
  std::string_view guard;
  std::uint64_t seed;
};
constexpr std::uint64_t kMoreSeeds = 300;
constexpr auto kLastFound = std::to_array<Found>({
    // clang-format off
    {"cluster", 188}, {"pool", 146}, {"zone", 123}, {"taint-order", 362}, {"cordon-cap", 62},
    {"storm", 186}, {"silence", 198}, {"well", 8}, {"arrivals", 110}, {"attempts", 23},
    {"breaker", 112}, {"ledger-version", 71}, {"call-fence", 1591}, {"stop", 78}, {"boot", 59},
    {"witness", 106}, {"intent", 58}, {"undone-by-hand", 18}, {"foreign-cordon", 35},
    {"node-identity", 57}, {"other-repairers", 109}, {"approval-guard", 523}, {"quiet-reasons", 8},
    {"told-again", 212}, {"timeout", 1}, {"drained", 67}, {"measured", 25},
    {"terminate-budget", 215}, {"volumes", 209}, {"end-once", 31}, {"instance", 1967},
    {"proof", 2473}, {"node-gone", 58}, {"returned", 73}, {"kept-alerts", 12}, {"old-alerts", 42},
    {"boards", 26}, {"verified", 8}, {"history-soak", 462}, {"machine-replaced", 101}, {"serials", 150},
    {"replacement", 58}, {"called", 370}, {"settled", 31}, {"late-restart", 4829},
    {"last-permit", 121}, {"claims", 3147}, {"drained-node", 298}, {"pod-identity", 3878},
    {"turns", 179}, {"protection", 98}, {"budget-answer", 942}, {"watch-version", 25},
    {"deletions", 25}, {"unlisted", 53}, {"view", 11}, {"earlier-episode", 12},
    {"confirmed-ends", 21}, {"absent", 143}, {"cleared", 65}, {"sweep", 235}, {"record-cordon", 28},
    {"job-name", 107}, {"job-permit", 37}, {"job-boot", 494}, {"job-run", 205}, {"left-jobs", 271},
    {"quarantine", 294}, {"daemon-sets", 176}, {"terminating", 839},
    {"tolerations", 42}, {"came-since", 42}, {"evicted-again", 88}, {"step-clock", 194},
    {"unsettled", 120}, {"drain-words", 67},
    {"disagreement", 249}, {"proofs-of-death", 87}, {"signs-of-life", 422}, {"off-proof", 100},
    {"out-of-service", 105}, {"cloud-at-work", 235}, {"leases", 617}, {"partition", 617},
    {"announced-boot", 129}, {"announced-early", 63}, {"announced-late", 81},
    {"announced-over", 63}, {"announced-ends", 61436}, {"drill-label", 2}, {"drill-report", 300},
    {"drill-steps", 1456}, {"drill-alerts", 33},
    {"prometheus-alerts", 29}, {"unknown-condition", 1192}, {"failed-answers", 231},
    {"part-answers", 736}, {"log-cursor", 129}, {"versions-back", 2660}, {"ledger-count", 449},
    {"timed-exclusion", 28}, {"lost-list", 772}, {"window", 388}, {"pool-mode", 128},
    {"cooldown", 4071}, {"min-healthy", 45}, {"sinks", 67}, {"give-back", 529},
    {"foreign-suspend", 2},
    // clang-format on
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

TEST_P(Bites, IfTheGuardIsOff) {
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
