#include "remediator/inbox/sources/split_records.h"

#include <cstddef>

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostOpenRecords = 10'000;

}  // namespace

LogLine SplitRecords::push(LogLine line, const std::string& node_label) {
  const auto node = line.labels.find(node_label);
  if (node == line.labels.end()) return line;
  if (open_.size() >= kMostOpenRecords) open_.clear();
  xid::RecordJoiner& joiner = open_[node->second];
  const std::string record(joiner.push(line.text).text);
  if (!joiner.is_open()) open_.erase(node->second);
  line.text = record;
  return line;
}

}  // namespace gpuward::remediator
