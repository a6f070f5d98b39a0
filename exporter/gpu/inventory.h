// Which GPUs the node has. Asked by the composition root at start and on reload.
//
// Today: a scenario file (SimulatedInventory), or none. The vendors' libraries come in as one more
// Inventory, a worker process of this same binary that answers over a pipe: a driver call that
// hangs or crashes takes the worker and not the exporter, so list() there gives the worker's last
// answer and never waits for a driver.
#pragma once

#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "core/model/result.h"

namespace gpuward::exporter {

class Inventory {
 public:
  virtual ~Inventory() = default;

  // Main thread, at start and on each reload; returns within a second. In the order of the indexes.
  // An error means that it cannot tell, never that there is no GPU.
  [[nodiscard]] virtual Result<std::vector<Gpu>> list() = 0;
  // For people: "simulated by /etc/gpus.yaml".
  [[nodiscard]] virtual std::string describe() const = 0;
};

// A node where nobody has said which GPUs there are: Xids are counted by address.
class NoInventory final : public Inventory {
 public:
  [[nodiscard]] Result<std::vector<Gpu>> list() override { return std::vector<Gpu>{}; }
  [[nodiscard]] std::string describe() const override {
    return "none: the GPU library is not read in this version, Xids are counted by address";
  }
};

}  // namespace gpuward::exporter
