// Reads the kernel log on its own thread and writes its events into the store. If a log cannot be
// read, the watcher logs that and tries again; it never makes a GPU look unhealthy or healthy.
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

// Judges one record and adds its events to the batch. Pure; called by the watcher for each record.
struct RecordContext {
  const Policy& policy;
  const std::vector<Gpu>& gpus;  // the seed profile judges by model
  WallTime now;
  // Called only for a line that is an event; empty: any address may be a GPU's.
  std::function<const GpuAddresses&()> addresses = {};
};
void add_record(const LogRecord& record, const RecordContext& context, LogBatch& batch);

// Adds the users of the batch's GPUs, by the kubelet's last answer.
void name_workloads(LogBatch& batch, const Snapshot& snapshot);

class KernelLogWatcher {
 public:
  // Gets each record as it is read, except those of programs that the policy refuses. Called on the
  // watcher's thread; must not block.
  using Tap = std::function<void(std::string_view text, WallTime at)>;

  // Like gpu_addresses(). Called on the watcher's thread, at most once a batch.
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
