// Checks that the simulation bites: if any one of the guards is off, some invariant breaks soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tests/simulation/run.h"

namespace gpuward::remediator::simulation {
namespace {

// A seed that breaks soon without the guard; the test tries it first. `simulation --bites 0:9999`
// finds these seeds. If the simulation has changed since, the test tries some more seeds.
struct Found {
  std::string_view guard;
  std::uint64_t seed;
};
constexpr std::uint64_t kMoreSeeds = 300;
constexpr auto kLastFound = std::to_array<Found>({
    // clang-format off
    {"budgets", 1}, {"cluster", 188}, {"pool", 1}, {"zone", 123}, {"rack", 36},
    {"taint-cap", 3}, {"taint-order", 17}, {"cordon-cap", 1}, {"storm", 186}, {"mode", 4},
    {"silence", 198}, {"well", 26}, {"slots", 1}, {"windows", 1}, {"arrivals", 110},
    {"attempts", 23}, {"breaker", 112}, {"ledger-version", 71}, {"ledger-memory", 1},
    {"lease", 0}, {"fence", 0}, {"call-fence", 1325}, {"stop", 78}, {"freshness", 1},
    {"boot", 15}, {"severity", 1}, {"witness", 180}, {"node-version", 7}, {"status-version", 1},
    {"evidence-version", 5}, {"once", 9}, {"intent", 58}, {"undone-by-hand", 18},
    {"foreign-cordon", 35}, {"pause", 1}, {"cancel", 1}, {"exclusion", 2},
    {"node-identity", 57}, {"other-repairers", 109}, {"approval", 2}, {"approval-guard", 523},
    {"quiet-reasons", 8}, {"announcement", 1}, {"told-again", 212}, {"timeout", 1},
    {"intake", 1}, {"drained", 67}, {"measured", 25}, {"terminate-budget", 215},
    {"volumes", 209}, {"end-once", 24}, {"instance", 1967}, {"proof", 1053}, {"node-gone", 58},
    {"returned", 4}, {"kept-alerts", 16}, {"old-alerts", 42}, {"boards", 29}, {"verified", 8},
    {"history-soak", 438}, {"machine-replaced", 88}, {"serials", 205}, {"replacement", 58},
    {"pairs", 22}, {"accepted", 9}, {"called", 316}, {"unsettled", 1155}, {"settled", 655},
    {"late-restart", 108}, {"last-permit", 121}, {"claims", 1324}, {"drained-node", 298},
    {"pod-identity", 139}, {"turns", 107}, {"protection", 98}, {"budget-answer", 818},
    {"watch-version", 25}, {"deletions", 25}, {"unlisted", 53}, {"view", 11},
    {"earlier-episode", 23}, {"late-repeats", 5}, {"confirmed-ends", 21}, {"absent", 143},
    {"cleared", 65}, {"sweep", 9}, {"record-cordon", 272}, {"job-name", 107},
    {"job-permit", 37}, {"job-boot", 143}, {"job-run", 205}, {"left-jobs", 135},
    {"quarantine", 331}, {"daemon-sets", 25}, {"terminating", 172}, {"tolerations", 42},
    {"came-since", 144}, {"evicted-again", 1630}, {"step-clock", 146}, {"drain-words", 67},
    {"look-again", 1}, {"disagreement", 401}, {"proofs-of-death", 517}, {"signs-of-life", 422},
    {"off-proof", 100}, {"out-of-service", 105}, {"cloud-at-work", 14}, {"leases", 7270},
    {"partition", 1218}, {"announced-boot", 129}, {"announced-early", 63},
    {"announced-late", 1}, {"announced-over", 63}, {"announced-ends", 61436},
    {"announced-kept", 1}, {"drill-label", 2}, {"drill-report", 1101}, {"drill-steps", 1235},
    {"drill-alerts", 38}, {"poll", 6}, {"prometheus-alerts", 29}, {"conditions", 6},
    {"unknown-condition", 856}, {"foreign-alerts", 3}, {"failed-answers", 231},
    {"part-answers", 736}, {"log-cursor", 129}, {"versions-back", 2660}, {"ledger-count", 449},
    {"begin-anew", 7}, {"timed-exclusion", 28}, {"lost-list", 327}, {"window", 388},
    {"pool-mode", 128}, {"cooldown", 4071}, {"min-healthy", 92}, {"sinks", 67},
    {"give-back", 721}, {"foreign-suspend", 2}, {"left-operands", 1470}, {"operand-pods", 276},
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
