// Sends the kernel's lines to a Loki (--loki.push-url), which replaces a DaemonSet that ships
// dmesg: with the labels that konduktor's controller and gpuward-remediator query. Best effort, on
// its own thread behind a bounded queue, so that a Loki that is slow or down does not block the
// readers of the kernel log. Fed by the kernel log's watcher.
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

// The Loki, and the names to send lines under.
struct LokiTarget {
  std::string url;     // its base: "http://loki:3100"
  std::string tenant;  // X-Scope-OrgID; empty: none
  std::string node;    // in the labels of the lines' streams
};

struct KernelLine {
  std::string text;
  WallTime at;  // when the kernel wrote it
};

// Returns the body of POST /loki/api/v1/push: one stream with all lines. Pure. Bytes that are not
// valid UTF-8 are replaced.
[[nodiscard]] std::string loki_push_body(const std::string& node,
                                         const std::vector<KernelLine>& lines);

class LokiPusher {
 public:
  // Store, clock and log must outlive it. The store's health has the numbers of sent and lost
  // lines.
  LokiPusher(LokiTarget target, std::unique_ptr<http::Client> client, Store& store, Clock& clock,
             Log& log);
  ~LokiPusher();
  LokiPusher(const LokiPusher&) = delete;
  LokiPusher& operator=(const LokiPusher&) = delete;

  // Any thread; never blocks. If too many lines wait, the new one is dropped and counted, because
  // the first lines of a storm say more than its last.
  void offer(std::string_view text, WallTime at);

 private:
  void run(const std::stop_token& stop);
  // Returns an empty batch after a stop.
  [[nodiscard]] std::vector<KernelLine> next_batch(const std::stop_token& stop);
  // Tries until Loki accepts the batch or rejects it permanently, or until a stop. Loki may accept
  // a part of a rejected batch; the whole batch counts as lost.
  void deliver(std::vector<KernelLine> batch, const std::stop_token& stop);
  // Puts half of the batch back, because a Loki never accepts one that is larger than its rate
  // limit allows at once, even after a long wait.
  void give_back_half(std::vector<KernelLine>& batch);
  [[nodiscard]] Status push(const std::string& body, const std::stop_token& stop);
  void count(std::size_t sent, std::size_t lost);
  void report(const Status& status);

  const LokiTarget target_;
  const std::unique_ptr<http::Client> client_;
  Store& store_;
  Clock& clock_;
  Log& log_;
  Backoff backoff_;         // of the thread, like most_lines_
  std::size_t most_lines_;  // of a push
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<KernelLine> waiting_;
  std::size_t waiting_bytes_ = 0, overflown_ = 0;
  std::jthread thread_;
};

}  // namespace gpuward::exporter
