// Remembers lines already processed, for as long as they may be read again: by node, time and text.
// Bounded; the oldest are dropped. Their findings then come twice, which changes no Remediation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "remediator/sources/loki_api.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMaxLinesKept = 200'000;

// One thread.
class LineMemory {
 public:
  using Key = std::pair<std::int64_t, std::uint64_t>;  // time, hash of node and text
  [[nodiscard]] static Key key_of(const LogLine& line, std::string_view node_label);

  [[nodiscard]] bool knows(const Key& key) const { return keys_.contains(key); }
  void add(const Key& key);
  // Older lines can no longer be read again.
  void forget_before(std::int64_t at) { keys_.erase(keys_.begin(), keys_.lower_bound({at, 0})); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  std::set<Key> keys_;
};

}  // namespace gpuward::remediator
