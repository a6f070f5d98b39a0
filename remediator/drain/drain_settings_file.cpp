// The YAML of a drain, and of the rate that all drains share:
//
//   drain:
//     pods: all                       # all | gpu: those that ask for a GPU
//     deadline: 30m
//     on_deadline: hold               # hold | delete | proceed
//     grace_period: 2m                # the most a pod gets; absent: what it asks for itself
//     empty_dir: evict                # evict | refuse: such pods lose what they have written
//     unmanaged: refuse               # refuse | evict: nobody would make them again
//     namespaces:                     # the first that matches; pods of others are evicted at once
//       - name: "train-*"
//         mode: wait                  # evict | wait up_to, then evict | delete after up_to
//         up_to: 20m                  # since the start of the drain
//     skipped_namespaces: [gpu-operator]
//     override_do_not_disrupt: false
//     unreachable: wait               # wait | forget
//   evictions:
//     per_second: 50
//     burst: 50
//     most_in_flight: 64
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "remediator/drain/drain_settings.h"

namespace gpuward::remediator {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

template <typename T>
struct Word {
  std::string_view word;
  T value;
};

constexpr std::array<Word<DrainedPods>, 2> kPods{
    {{"all", DrainedPods::kAll}, {"gpu", DrainedPods::kGpu}}};
constexpr std::array<Word<OnDeadline>, 3> kOnDeadline{{{"hold", OnDeadline::kHold},
                                                       {"delete", OnDeadline::kDelete},
                                                       {"proceed", OnDeadline::kProceed}}};
constexpr std::array<Word<bool>, 2> kEvictOrRefuse{{{"evict", true}, {"refuse", false}}};
constexpr std::array<Word<NamespaceMode>, 3> kModes{{{"evict", NamespaceMode::kEvict},
                                                     {"wait", NamespaceMode::kWait},
                                                     {"delete", NamespaceMode::kDelete}}};
constexpr std::array<Word<UnreachablePods>, 2> kUnreachable{
    {{"wait", UnreachablePods::kWait}, {"forget", UnreachablePods::kForget}}};

template <typename T, std::size_t kCount>
void read_word(const YamlMap& map, std::string_view key, const std::array<Word<T>, kCount>& words,
               T& out) {
  if (!map.has(key)) return;
  std::string text;
  map.read(key, text);
  std::string allowed;
  for (const Word<T>& word : words) {
    if (word.word == text) {
      out = word.value;
      return;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(word.word);
  }
  map.reject(key, "must be one of " + allowed);
}

NamespaceRule read_rule(const YamlMap& map, milliseconds deadline) {
  NamespaceRule rule;
  map.require("name", rule.name);
  read_word(map, "mode", kModes, rule.mode);
  map.read("up_to", rule.up_to, seconds(1), days(30));
  if (rule.mode != NamespaceMode::kEvict && !map.has("up_to"))
    map.reject("up_to", "says how long such pods may finish: give one");
  if (rule.mode != NamespaceMode::kEvict && rule.up_to >= deadline)
    map.reject("up_to", "must be shorter than the drain's deadline");
  return rule;
}

void read_grace(const YamlMap& map, std::optional<seconds>& grace) {
  if (!map.has("grace_period")) return;
  milliseconds read = grace.value_or(seconds(30));
  map.read("grace_period", read, seconds(1), hours(24));
  grace = std::chrono::ceil<seconds>(read);
}

}  // namespace

DrainSettings read_drain_settings(const YamlMap& drain, DrainSettings settings) {
  read_word(drain, "pods", kPods, settings.pods);
  drain.read("deadline", settings.deadline, seconds(1), days(30));
  read_word(drain, "on_deadline", kOnDeadline, settings.on_deadline);
  read_grace(drain, settings.grace_period);
  read_word(drain, "empty_dir", kEvictOrRefuse, settings.evicts_empty_dir);
  read_word(drain, "unmanaged", kEvictOrRefuse, settings.evicts_unmanaged);
  if (drain.has("namespaces")) settings.namespaces.clear();
  for (const YamlMap& rule : drain.maps("namespaces"))
    settings.namespaces.push_back(read_rule(rule, settings.deadline));
  if (drain.has("skipped_namespaces")) settings.skipped_namespaces.clear();
  drain.read("skipped_namespaces", settings.skipped_namespaces);
  drain.read("override_do_not_disrupt", settings.overrides_do_not_disrupt);
  read_word(drain, "unreachable", kUnreachable, settings.unreachable);
  return settings;
}

EvictionRate read_eviction_rate(const YamlMap& evictions) {
  EvictionRate rate;
  evictions.read("per_second", rate.per_second, 0.1, 10'000);
  std::int64_t burst = rate.burst;
  evictions.read("burst", burst, 1, 10'000);
  std::int64_t most = rate.most_in_flight;
  evictions.read("most_in_flight", most, 1, 1'000);
  rate.burst = static_cast<int>(burst);
  rate.most_in_flight = static_cast<int>(most);
  return rate;
}

}  // namespace gpuward::remediator
