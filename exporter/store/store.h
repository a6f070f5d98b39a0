// The one place that all sources write into and all publishers read from: the Ledger behind a lock,
// with the GPUs, the numbers of the kernel log and the exporter's own health beside it. Every call
// is short and none does I/O, so that nobody waits for anybody's driver, disk or client.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "exporter/kernel_log/source.h"
#include "exporter/store/ledger.h"

namespace gpuward::exporter {

// Since this process started.
struct LogNumbers {
  std::uint64_t lines = 0, bytes = 0, gaps = 0, lost_records = 0, user_space_lines = 0;
  std::chrono::nanoseconds parse_time{0};
};

// What the exporter knows about itself. A sick exporter says nothing about the GPUs.
struct Health {
  std::optional<std::string> kernel_log_fault = "not read yet";  // nullopt: it can be read
  std::optional<std::string> inventory_fault;
  std::optional<std::string> state_fault;  // why the last save failed
  bool was_state_set_aside = false;        // it was broken or unreadable when we started
  bool was_last_reload_good = true;
  WallTime last_good_reload;
  bool operator==(const Health&) const = default;
};

struct Snapshot {
  State state;
  std::vector<Gpu> gpus;
  LogNumbers log;
  Health health;
};

// What one batch of the kernel log amounts to.
struct LogBatch {
  std::vector<Observation> observations;
  std::vector<xid::UuidLine> uuids;
  LogPosition position;  // where to go on after this batch
  LogNumbers numbers;    // of this batch alone
};

class Store {
 public:
  explicit Store(State initial) : ledger_(std::move(initial)) {}

  // Any thread, all of them.
  void apply(const LogBatch& batch);
  void enter_boot(const std::string& boot_id, WallTime now);
  void expire(WallTime now, std::chrono::milliseconds age);
  std::vector<Finding> clear(const ClearRequest& request, WallTime now);  // what is gone
  void set_gpus(std::vector<Gpu> gpus);
  void update_health(const std::function<void(Health&)>& update);
  void touch();  // something outside that is rendered too has changed (the policy)

  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] Health health() const;
  [[nodiscard]] State state() const;
  [[nodiscard]] std::vector<Gpu> gpus() const;
  // Grows with each change that must be seen at once; not with the numbers of the log and the
  // position.
  [[nodiscard]] std::uint64_t version() const;
  // Blocks until version() differs from `seen`, `limit` has passed, or a stop; the version then.
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds limit,
                                const std::stop_token& stop) const;

 private:
  void bump();  // with the lock held

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  Ledger ledger_;
  std::vector<Gpu> gpus_;
  LogNumbers log_;
  Health health_;
  std::uint64_t version_ = 1;
};

}  // namespace gpuward::exporter
