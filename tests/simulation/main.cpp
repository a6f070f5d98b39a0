// simulation [--seed N | --seeds FROM:TO] [--jobs N] [--thousands] [--without GUARD] [--keep-going]
// Exit code 1 if an invariant broke; the trace of that seed is on stderr.
// simulation --bites FROM:TO [--jobs N]: prints the seed at which each guard is missed, in the form
// of bites_test.cpp. Exit code 1 if no seed misses one of them.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "tests/simulation/run.h"

namespace {

using namespace gpuward::remediator::simulation;

struct Wish {
  std::uint64_t first = 0, last = 999;
  unsigned jobs = 1;
  Size size = Size::kAny;
  Sabotage without = Sabotage::kNone;
  bool keeps_going = false, finds_bites = false;
};

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool read_wish(int count, char** words, Wish& wish) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const std::string_view value = i + 1 < count ? words[i + 1] : "";
    if (word == "--thousands") {
      wish.size = Size::kThousands;
      continue;
    }
    if (word == "--keep-going") {
      wish.keeps_going = true;
      continue;
    }
    ++i;
    if (word == "--seed") {
      wish.first = wish.last = number(value);
    } else if ((word == "--seeds" || word == "--bites") && value.contains(':')) {
      wish.finds_bites = word == "--bites";
      wish.first = number(value.substr(0, value.find(':')));
      wish.last = number(value.substr(value.find(':') + 1));
    } else if (word == "--jobs") {
      wish.jobs = std::max(1U, static_cast<unsigned>(number(value)));
    } else if (word == "--without" && parse_sabotage(value)) {
      wish.without = *parse_sabotage(value);
    } else {
      return false;
    }
  }
  return true;
}

// Runs seeds in order, on a few threads, each in its own world.
class Run {
 public:
  explicit Run(const Wish& wish) : wish_(wish), next_(wish.first) {}

  int go() {
    const auto begun = std::chrono::steady_clock::now();
    work_together();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("%llu seeds, %llu broken, %.1f s, %.0f seeds/s\n",
                static_cast<unsigned long long>(done_), static_cast<unsigned long long>(broken_),
                took.count(), static_cast<double>(done_) / took.count());
    return broken_ == 0 ? 0 : 1;
  }

  // Returns the first seed at which something broke; nothing if all held.
  std::optional<std::uint64_t> first_broken() {
    work_together();
    return first_broken_;
  }

 private:
  void work_together() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < wish_.jobs; ++i) threads.emplace_back([this] { work(); });
  }

  void work() {
    while (!stops_) {
      const std::uint64_t seed = next_++;
      if (seed > wish_.last) return;
      const Outcome outcome = run_seed(seed, wish_.size, wish_.without);
      ++done_;
      if (wish_.first == wish_.last) {
        if (outcome.holds() && wish_.keeps_going) print(outcome);
        std::printf("hash %016llx, %llu lines\n", static_cast<unsigned long long>(outcome.hash),
                    static_cast<unsigned long long>(outcome.lines));
      }
      if (!outcome.holds()) report(seed, outcome);
    }
  }

  static void print(const Outcome& outcome) {
    for (const std::string& line : outcome.trace) std::fprintf(stderr, "%s\n", line.c_str());
  }

  void report(std::uint64_t seed, const Outcome& outcome) {
    const std::lock_guard lock(mutex_);
    ++broken_;
    first_broken_ = std::min(first_broken_.value_or(seed), seed);
    if (stops_) return;
    stops_ = !wish_.keeps_going;
    if (wish_.finds_bites) return;
    if (stops_) print(outcome);
    std::fprintf(stderr, "seed %llu breaks %s: %s\n", static_cast<unsigned long long>(seed),
                 outcome.invariant.c_str(), outcome.what.c_str());
  }

  const Wish wish_;
  std::mutex mutex_;
  std::optional<std::uint64_t> first_broken_;
  std::atomic<std::uint64_t> next_, done_ = 0, broken_ = 0;
  std::atomic<bool> stops_ = false;
};

int find_bites(Wish wish) {
  int missing = 0;
  for (const SabotageName& guard : kSabotages) {
    wish.without = guard.sabotage;
    const auto seed = Run(wish).first_broken();
    const int length = static_cast<int>(guard.name.size());
    if (seed) {
      std::printf("    {\"%.*s\", %llu},\n", length, guard.name.data(),
                  static_cast<unsigned long long>(*seed));
    } else {
      std::fprintf(stderr, "nothing breaks without %.*s\n", length, guard.name.data());
      ++missing;
    }
    std::fflush(stdout);
  }
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Wish wish;
  if (!read_wish(count, words, wish)) {
    std::fprintf(
        stderr,
        "usage: simulation [--seed N | --seeds FROM:TO] [--jobs N] [--thousands] "
        "[--without GUARD] [--keep-going]\n       simulation --bites FROM:TO [--jobs N]\n");
    return 2;
  }
  if (wish.finds_bites) return find_bites(wish);
  return Run(wish).go();
}
