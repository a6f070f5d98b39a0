// Renders the store once after a change, on its own thread; a scrape only reads the rendered bytes.
// Values without a change in the store (process_*, numbers of log lines) are rendered again after a
// scrape, at most once a second.
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

  // Renders once in the constructor, then on its thread. Store and clock must outlive it;
  // `catalogue` is called on that thread.
  Publisher(Store& store, Clock& clock, CurrentCatalogue catalogue, MetricsOptions options = {});
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Thread-safe. Returns the answer to a scrape; without text if rendering failed.
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
