// Reads the kernel log on a thread of its own and writes what it says into the store. A log that
// cannot be read is logged and tried again; it never makes a GPU look unhealthy or healthy.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/settings.h"
#include "exporter/kernel_log/source.h"
#include "exporter/store/store.h"
#include "exporter/watch/gpu_inventory.h"

namespace gpuward::exporter {

// Judges one record and adds what it says to the batch. Pure; what the watcher does for each
// record.
struct RecordContext {
  const Policy& policy;
  const std::vector<Gpu>& gpus;  // the seed profile judges by model
  WallTime now;
  // Asked only for a line that is an event; empty: any address may be a GPU's.
  std::function<const GpuAddresses&()> addresses = {};
};
void add_record(const LogRecord& record, const RecordContext& context, LogBatch& batch);

// Who used the GPUs that the batch speaks of, as the kubelet has said last.
void name_workloads(LogBatch& batch, const Snapshot& snapshot);

class KernelLogWatcher {
 public:
  // Gets each record as it is read, whatever it means, but for those of programs where the policy
  // refuses them. Called on the watcher's thread; must not block.
  using Tap = std::function<void(std::string_view text, WallTime at)>;

  // As gpu_addresses(). On the watcher's thread, at most once a batch.
  using AskAddresses = std::function<GpuAddresses()>;

  // All references must outlive it.
  KernelLogWatcher(std::unique_ptr<KernelLogSource> source, Store& store,
                   const CurrentPolicy& policy, Clock& clock, Log& log, AskAddresses addresses = {},
                   Tap tap = {});
  ~KernelLogWatcher();
  KernelLogWatcher(const KernelLogWatcher&) = delete;
  KernelLogWatcher& operator=(const KernelLogWatcher&) = delete;

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] Status read_batch(const std::stop_token& stop);
  void report(const Status& status);

  std::unique_ptr<KernelLogSource> source_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  const AskAddresses addresses_;
  const Tap tap_;
  bool has_told_of_headers_ = false;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
