// The RDMA devices of the node (EFA, InfiniBand, RoCE) and their counters, from sysfs. Read every
// 30 s for the metrics and by the EFA check: some 40 small files a device; the driver queries the
// card if its last values are older than `lifespan` (10 ms). May wait for a card that does not
// respond, so never call it on a thread that /metrics waits for.
#pragma once

#include <string>
#include <vector>

#include "exporter/host/host_paths.h"
#include "exporter/host/rdma_reading.h"

namespace gpuward::exporter {

// Ascending by name. Counters that this card, driver or kernel lacks, or that are not readable, are
// absent; `lifespan` is a setting, not a counter.
[[nodiscard]] std::vector<RdmaReading> read_rdma(const HostPaths& host);

// The access from user space to a device.
struct UserVerbs {
  std::string name;       // "uverbs0"
  std::string device;     // "rdmap86s0"
  bool has_node = false;  // /dev/infiniband/uverbs0 exists
  bool operator==(const UserVerbs&) const = default;
};

// Ascending by name.
[[nodiscard]] std::vector<UserVerbs> list_user_verbs(const HostPaths& host);

}  // namespace gpuward::exporter
