// The announcements that clouds have made about Nodes, as the informer last saw them: no list of
// nodes of its own. Implemented by cluster/cluster_view, used by the source of announcements.
#pragma once

#include <string>
#include <vector>

#include "core/kube/node_announcements.h"

namespace gpuward::remediator {

struct AnnouncedNode {
  std::string node;
  std::vector<NodeAnnouncement> list;  // Empty: the cloud has announced nothing.
};

// Thread-safe.
class NodeAnnouncements {
 public:
  virtual ~NodeAnnouncements() = default;
  // Returns the announcements of all nodes.
  [[nodiscard]] virtual std::vector<AnnouncedNode> announcements() const = 0;
};

}  // namespace gpuward::remediator
