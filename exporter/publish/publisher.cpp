#include "exporter/publish/publisher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/metrics/process.h"
#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::milliseconds kRefreshInterval{1'000};
// Rendering takes at most a tenth of a processor in the long run, however fast events come, and a
// burst shares one rendering. The share of a quiet second may be used at once, so that a line right
// after a rendering need not wait. Processor time counts, not elapsed time: on a busy node a
// rendering takes long, and the next line would wait ten times as long.
constexpr int kShare = 10;
constexpr std::chrono::seconds kSaved{1};

}  // namespace

Publisher::Publisher(Store& store, Clock& clock, CurrentCatalogue catalogue, MetricsOptions options)
    : store_(store), clock_(clock), catalogue_(std::move(catalogue)), options_(std::move(options)) {
  render();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Publisher::~Publisher() {
  thread_.request_stop();
  thread_.join();
}

metrics::Exposition Publisher::for_scrape() {
  was_scraped_.store(true, std::memory_order_relaxed);
  return current_.get();
}

void Publisher::run(const std::stop_token& stop) {
  std::uint64_t rendered = 0;
  // The time at which all renderings so far have used up their share.
  Clock::Steady due = clock_.steady() - kSaved;
  while (!stop.stop_requested()) {
    const std::uint64_t version = store_.wait_for_change(rendered, kRefreshInterval, stop);
    const bool was_scraped = was_scraped_.exchange(false, std::memory_order_relaxed);
    if (version == rendered && !was_scraped) continue;
    rendered = version;
    due = std::max(due, clock_.steady() - kSaved);
    const auto before = clock_.processor_time();
    render();
    due += kShare * (clock_.processor_time() - before);
    clock_.sleep_until(due, stop);
  }
}

void Publisher::render() try {
  Families families = exporter_families(store_.snapshot(), *catalogue_(), options_);
  metrics::append_build_info(families);
  metrics::append_process(families);
  current_.set(metrics::render(families));
} catch (const std::exception&) {
  // Old numbers would look like new ones. Without an answer the scrape fails, which an alert
  // detects, and leads to another try.
  current_.set({});
}

}  // namespace gpuward::exporter
