// Kernel lines that exporters have written on their Nodes because no table has their number, as the
// informer last saw them. Implemented by cluster/cluster_view, used by
// inbox/sources/node_line_source.
#pragma once

#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

struct NodeLine {
  std::string node, text;
  kube::WallTime at;
};

// Thread-safe.
class NodeLines {
 public:
  virtual ~NodeLines() = default;
  [[nodiscard]] virtual std::vector<NodeLine> unknown_lines() const = 0;
};

}  // namespace gpuward::remediator
