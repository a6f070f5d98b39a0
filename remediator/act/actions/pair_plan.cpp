#include "remediator/act/actions/pair_plan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostTries = 2;             // Limit for the tests of a pair without a result.
constexpr std::ptrdiff_t kMostPartnersNamed = 8;  // Limit for the partners in text for people.

std::set<std::string> passed_nodes(const std::vector<PairTest>& tests) {
  std::set<std::string> good;
  for (const PairTest& test : tests) {
    if (test.result != PairResult::kPassed) continue;
    good.insert(test.first);
    good.insert(test.second);
  }
  return good;
}

bool has_failed_with_good(const std::string& node, const std::vector<PairTest>& tests,
                          const std::set<std::string>& good) {
  return std::ranges::any_of(tests, [&](const PairTest& test) {
    return test.result == PairResult::kFailed && test.has(node) && good.contains(test.other(node));
  });
}

class PairPlanner {
 public:
  PairPlanner(const std::vector<std::string>& members, const std::vector<PairTest>& tests,
              std::set<std::string> busy)
      : members_(members),
        tests_(tests),
        busy_(std::move(busy)),
        verdicts_(pair_findings(members, tests)) {
    for (const PairTest& test : tests) {
      if (test.result != PairResult::kRunning) continue;
      busy_.insert({test.first, test.second});
      ++running_;
    }
    has_good_ = std::ranges::any_of(
        members, [&](const std::string& node) { return is(node, PairFinding::kGood); });
  }

  PairPlan run() {
    PairPlan plan;
    for (const std::string& node : members_) {
      const bool is_full =
          running_ >= kMostPairsAtOnce || tests_.size() + plan.next.size() >= kMostPairTests;
      if (is_full || !is(node, PairFinding::kUnknown) || busy_.contains(node)) continue;
      const std::string* const partner = best_partner(node);
      if (partner == nullptr) continue;
      plan.next.emplace_back(std::minmax(node, *partner));
      busy_.insert({node, *partner});
      ++running_;
    }
    if (running_ == 0 && !is_anything_left()) plan.verdicts = verdicts_;
    return plan;
  }

 private:
  bool is(const std::string& node, PairFinding verdict) const {
    return verdicts_.at(node) == verdict;
  }

  // Returns how many tests of the two nodes had no result; nullopt if the nodes need no further
  // test together.
  std::optional<std::size_t> tries_of(const std::string& node, const std::string& other) const {
    std::size_t tries = 0;
    for (const PairTest& test : tests_) {
      if (!test.has(node) || !test.has(other)) continue;
      if (test.result != PairResult::kUnknown) return std::nullopt;
      ++tries;
    }
    return tries < kMostTries ? std::optional(tries) : std::nullopt;
  }

  bool may_be_partner(const std::string& node, const std::string& other) const {
    return node != other && is(other, has_good_ ? PairFinding::kGood : PairFinding::kUnknown);
  }

  // Returns the partner with the fewest tests with this node; nullptr if there is none.
  const std::string* best_partner(const std::string& node) const {
    const std::string* best = nullptr;
    std::size_t fewest = kMostTries;
    for (const std::string& other : members_) {
      if (!may_be_partner(node, other) || busy_.contains(other)) continue;
      const auto tries = tries_of(node, other);
      if (!tries || *tries >= fewest) continue;
      best = &other;
      fewest = *tries;
    }
    return best;
  }

  bool is_anything_left() const {
    if (tests_.size() >= kMostPairTests) return false;
    return std::ranges::any_of(members_, [&](const std::string& node) {
      return is(node, PairFinding::kUnknown) &&
             std::ranges::any_of(members_, [&](const std::string& other) {
               return may_be_partner(node, other) && tries_of(node, other);
             });
    });
  }

  const std::vector<std::string>& members_;
  const std::vector<PairTest>& tests_;
  std::set<std::string> busy_;
  PairFindings verdicts_;
  std::size_t running_ = 0;
  bool has_good_ = false;
};

// Returns the partners as "gpu-01, gpu-02 and 3 more"; each name occurs once.
std::string partners_text(const std::string& node, PairResult result,
                          const std::vector<PairTest>& tests) {
  std::set<std::string> partners;
  for (const PairTest& test : tests) {
    if (test.result == result && test.has(node)) partners.insert(test.other(node));
  }
  const std::vector<std::string> first(
      partners.begin(),
      std::next(partners.begin(), std::min(std::ssize(partners), kMostPartnersNamed)));
  return list_first(first, partners.size());
}

// Returns the last test for which `is_one` is true; nullptr if there is none.
template <typename IsOne>
const PairTest* last_of(const std::vector<PairTest>& tests, IsOne is_one) {
  const auto found = std::find_if(tests.rbegin(), tests.rend(), is_one);
  return found == tests.rend() ? nullptr : &*found;
}

std::string with_words(const std::string& text, const PairTest* test) {
  return test == nullptr || test->words.empty() ? text : text + ": " + test->words;
}

std::string good_words(const std::string& node, const std::vector<PairTest>& tests) {
  const PairTest* const passed = last_of(tests, [&](const PairTest& test) {
    return test.result == PairResult::kPassed && test.has(node);
  });
  return with_words("passed with " + partners_text(node, PairResult::kPassed, tests), passed);
}

std::string bad_words(const std::string& node, const std::vector<PairTest>& tests) {
  const auto good = passed_nodes(tests);
  const PairTest* const failed = last_of(tests, [&](const PairTest& test) {
    return test.result == PairResult::kFailed && test.has(node) && good.contains(test.other(node));
  });
  if (failed == nullptr) return "failed";
  const std::string& partner = failed->other(node);
  return with_words("fails with " + partner + ", which passes with " +
                        partners_text(partner, PairResult::kPassed, tests),
                    failed);
}

std::string unknown_text(const std::string& node, const std::vector<PairTest>& tests) {
  const PairTest* const last = last_of(tests, [&](const PairTest& test) { return test.has(node); });
  if (last == nullptr) return "unknown: it was not tested with any other node";
  std::string text = "cannot tell whether this node is the culprit:";
  const auto failed = partners_text(node, PairResult::kFailed, tests);
  const auto untold = partners_text(node, PairResult::kUnknown, tests);
  if (!failed.empty())
    text += " it fails with " + failed + ", which does not pass with any other node";
  if (!untold.empty()) {
    text += std::string(failed.empty() ? "" : ";") + " the test with " + untold + " has no result";
  }
  return with_words(text, last);
}

}  // namespace

PairFindings pair_findings(const std::vector<std::string>& members,
                           const std::vector<PairTest>& tests) {
  const auto good = passed_nodes(tests);
  PairFindings verdicts;
  for (const std::string& node : members) {
    PairFinding& verdict = verdicts[node] = PairFinding::kUnknown;
    if (good.contains(node)) {
      verdict = PairFinding::kGood;
    } else if (has_failed_with_good(node, tests, good)) {
      verdict = PairFinding::kBad;
    }
  }
  return verdicts;
}

PairPlan plan_pairs(const std::vector<std::string>& members, const std::vector<PairTest>& tests,
                    const std::set<std::string>& busy) {
  return PairPlanner(members, tests, busy).run();
}

std::string pair_words(const std::string& node, PairFinding verdict,
                       const std::vector<PairTest>& tests) {
  switch (verdict) {
    case PairFinding::kGood:
      return good_words(node, tests);
    case PairFinding::kBad:
      return bad_words(node, tests);
    case PairFinding::kUnknown:
      return unknown_text(node, tests);
  }
  return {};
}

}  // namespace gpuward::remediator
