// Remembers the lines already processed, by node, time and text, for as long as the source may read
// them again. Bounded; the oldest lines are dropped. A dropped line is reported twice, which
// changes no Remediation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "remediator/inbox/sources/loki_api.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMaxLinesKept = 200'000;

// One thread.
class LineMemory {
 public:
  using Key = std::pair<std::int64_t, std::uint64_t>;  // Time, and hash of node and text.
  [[nodiscard]] static Key key_of(const LogLine& line, std::string_view node_label);

  [[nodiscard]] bool knows(const Key& key) const { return keys_.contains(key); }
  void add(const Key& key);
  // Forgets lines before `at`, which the source can no longer read again.
  void forget_before(std::int64_t at) { keys_.erase(keys_.begin(), keys_.lower_bound({at, 0})); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  std::set<Key> keys_;
};

}  // namespace gpuward::remediator
