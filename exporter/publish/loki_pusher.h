// Sends the kernel's lines to a Loki (--loki.push-url), in place of a DaemonSet that ships dmesg:
// under the labels that konduktor's controller and gpuward-remediator look for. Best effort, on a
// thread of its own behind a bounded queue, so that a Loki which is slow or away holds up nobody
// who reads the kernel log. Fed by the kernel log's watcher.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/http/client/client.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Where to, and under whose name.
struct LokiTarget {
  std::string url;     // its base: "http://loki:3100"
  std::string tenant;  // X-Scope-OrgID; empty: none
  std::string node;    // as the lines' streams name it
};

struct KernelLine {
  std::string text;
  WallTime at;  // when the kernel wrote it
};

// The body of POST /loki/api/v1/push: one stream with all lines. Pure. Bytes that are no UTF-8 are
// replaced.
[[nodiscard]] std::string loki_push_body(const std::string& node,
                                         const std::vector<KernelLine>& lines);

class LokiPusher {
 public:
  // Store, clock and log must outlive it. What it has sent and lost stands in the store's health.
  LokiPusher(LokiTarget target, std::unique_ptr<http::Client> client, Store& store, Clock& clock,
             Log& log);
  ~LokiPusher();
  LokiPusher(const LokiPusher&) = delete;
  LokiPusher& operator=(const LokiPusher&) = delete;

  // Any thread; never blocks. Where too many lines wait, the new one is lost, and counted: the
  // first lines of a storm say more than its last.
  void offer(std::string_view text, WallTime at);

 private:
  void run(const std::stop_token& stop);
  // Empty: stopped.
  [[nodiscard]] std::vector<KernelLine> next_batch(const std::stop_token& stop);
  // Until Loki has taken the batch, or will never take it, or a stop. Of what it refuses it may
  // have taken a part: all of it counts as lost.
  void deliver(std::vector<KernelLine> batch, const std::stop_token& stop);
  // Half of a batch waits again: a Loki takes none that is larger than what its rate limit allows
  // at once, however long it is waited for.
  void give_back_half(std::vector<KernelLine>& batch);
  [[nodiscard]] Status push(const std::string& body, const std::stop_token& stop);
  void count(std::size_t sent, std::size_t lost);
  void report(const Status& status);

  const LokiTarget target_;
  const std::unique_ptr<http::Client> client_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  Backoff backoff_;         // of the thread, as is the next one
  std::size_t most_lines_;  // of a push
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<KernelLine> waiting_;
  std::size_t waiting_bytes_ = 0, overflown_ = 0;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
