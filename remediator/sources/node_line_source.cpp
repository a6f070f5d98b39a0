#include "remediator/sources/node_line_source.h"

#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {

Result<SourceFindings> NodeLineSource::look() {
  SourceFindings found;
  std::set<std::string> standing;
  for (NodeLine& one : nodes_.unknown_lines()) {
    std::string key = short_hash(one.node + '\n' + to_rfc3339(one.line.at) + '\n' + one.line.text);
    const bool is_new = !shown_.contains(key);
    standing.insert(std::move(key));
    if (!is_new) continue;
    ++found.read;
    triage_.offer(
        {.node = std::move(one.node), .text = std::move(one.line.text), .at = one.line.at});
  }
  shown_ = std::move(standing);
  return found;
}

}  // namespace gpuward::remediator
