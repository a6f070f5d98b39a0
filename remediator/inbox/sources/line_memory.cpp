#include "remediator/inbox/sources/line_memory.h"

#include <functional>
#include <string>

namespace gpuward::remediator {

// Loki may return one stream in several parts, with more labels on one of them: only the node
// counts.
LineMemory::Key LineMemory::key_of(const LogLine& line, std::string_view node_label) {
  const auto node = line.labels.find(std::string(node_label));
  const std::string whose = node == line.labels.end() ? std::string() : node->second;
  return {line.at, std::hash<std::string>{}(whose + '\n' + line.text)};
}

void LineMemory::add(const Key& key) {
  keys_.insert(key);
  if (keys_.size() > kMaxLinesKept) keys_.erase(keys_.begin());
}

}  // namespace gpuward::remediator
