// Which label of this machine's own Node asks for the GPUs: NVIDIA's GPU operator upgrades a driver
// in place, and the module `nvidia` cannot be unloaded while a process has NVML open. The operator
// only waits for its own pods; the exporter learns of the upgrade from the labels of the Node. Made
// by NodeLink; the composition root reads it once a second, for GpuReleases.
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/publish/node/node_publisher.h"

namespace gpuward::exporter {

class OwnNode {
 public:
  // Starts to watch the Node, on a thread that ends with this object. `clock`, `log` and what
  // `make_api` refers to must outlive it.
  OwnNode(std::string name, MakeApi make_api, Clock& clock, Log& log);

  // Thread-safe. Returns label_asking_for_gpus() (asking_label.h) for the last labels: nullopt
  // before the first answer. While the API server is down or has no such Node, the last labels
  // count.
  [[nodiscard]] std::optional<std::string> asking_label() const;
  // Thread-safe. Returns true after the first answer, the Node or a failure.
  [[nodiscard]] bool has_answer() const;

 private:
  void run(const std::stop_token& stop);
  // Runs one watch until it ends. `version`: where to start, and then how far it has come.
  [[nodiscard]] Status watch(kube::Api& api, std::string& version, const std::stop_token& stop);
  void take(const kube::WatchEvent& event);
  void complain(const Error& error);

  const std::string name_;
  const MakeApi make_api_;
  Clock& clock_;
  Log& log_;
  std::optional<ErrorKind> complaint_;  // the last one logged; used only by the thread
  mutable std::mutex mutex_;
  std::optional<std::string> asking_;
  bool has_answer_ = false;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
