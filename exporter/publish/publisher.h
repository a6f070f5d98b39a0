// Renders the store once a change, on a thread of its own; a scrape only takes the ready bytes.
// What has no change of its own (process_*, lines of the log) is rendered again a second after a
// scrape at the earliest.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "core/metrics/exposition.h"
#include "core/runtime/clock.h"
#include "core/xid/catalogue.h"
#include "exporter/publish/metrics_options.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class Publisher {
 public:
  using CurrentCatalogue = std::function<std::shared_ptr<const xid::Catalogue>()>;

  // Renders once before it returns, then on its thread. Store and clock must outlive it;
  // `catalogue` is called on that thread.
  Publisher(Store& store, Clock& clock, CurrentCatalogue catalogue, MetricsOptions options = {});
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Any thread: what to answer a scrape with; without text where it could not be rendered.
  [[nodiscard]] metrics::Exposition for_scrape();

 private:
  void run(const std::stop_token& stop);
  void render();

  Store& store_;
  Clock& clock_;
  CurrentCatalogue catalogue_;
  const MetricsOptions options_;
  metrics::CurrentExposition current_;
  std::atomic<bool> was_scraped_{false};
  std::jthread thread_;
};

}  // namespace gpuward::exporter
