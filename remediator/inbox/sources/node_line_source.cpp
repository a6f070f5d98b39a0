#include "remediator/inbox/sources/node_line_source.h"

#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {

// A line that was not accepted is offered again at the next check. Old lines are skipped: a new
// leader finds them on the nodes too.
Result<SourceFindings> NodeLineSource::look() {
  SourceFindings found;
  const WallTime oldest = clock_.wall() - policy_.get()->loki.quiet_for;
  std::set<std::string> standing;
  for (NodeLine& one : nodes_.unknown_lines()) {
    std::string key = short_hash(one.node + '\n' + to_rfc3339(one.at) + '\n' + one.text);
    if (shown_.contains(key)) {
      standing.insert(std::move(key));
      continue;
    }
    if (one.at < oldest) continue;
    ++found.read;
    if (triage_.offer({.node = std::move(one.node), .text = std::move(one.text), .at = one.at}))
      standing.insert(std::move(key));
  }
  shown_ = std::move(standing);
  return found;
}

}  // namespace gpuward::remediator
