#include "exporter/publish/publisher.h"

#include <exception>
#include <utility>

#include "core/metrics/process.h"
#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::milliseconds kRefreshInterval{1'000};
// In the time that a rendering has taken: however fast events come, they cost a tenth of a
// processor, and those of a burst share a rendering.
constexpr int kPause = 9;

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
  while (!stop.stop_requested()) {
    const std::uint64_t version = store_.wait_for_change(rendered, kRefreshInterval, stop);
    const bool was_scraped = was_scraped_.exchange(false, std::memory_order_relaxed);
    if (version == rendered && !was_scraped) continue;
    rendered = version;
    const Clock::Steady begin = clock_.steady();
    render();
    const Clock::Steady end = clock_.steady();
    clock_.sleep_until(end + kPause * (end - begin), stop);
  }
}

void Publisher::render() try {
  Families families = exporter_families(store_.snapshot(), *catalogue_(), options_);
  metrics::append_build_info(families);
  metrics::append_process(families);
  current_.set(metrics::render(families));
} catch (const std::exception&) {
  // Old numbers would pass for new ones. Without an answer the scrape fails, which an alert sees;
  // the next one has it tried again.
  current_.set({});
}

}  // namespace gpuward::exporter
