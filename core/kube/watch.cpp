#include <random>
#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/impl.h"
#include "core/kube/names.h"
#include "core/kube/watch_lines.h"

namespace gpuward::kube {
namespace {

constexpr std::size_t kLongestLine = 8U << 20U;

int watch_seconds(const WatchOptions& options, std::uint64_t seed) {
  std::mt19937_64 random(seed != 0 ? seed : std::random_device{}());
  return std::uniform_int_distribution<int>(static_cast<int>(options.shortest.count()),
                                            static_cast<int>(options.longest.count()))(random);
}

}  // namespace

Status Api::watch(std::string_view collection, std::string_view resource_version,
                  std::stop_token stop, const std::function<void(const WatchEvent&)>& on_event,
                  const WatchOptions& options) {
  std::string target =
      std::string(collection) +
      "?watch=true&allowWatchBookmarks=true&resourceVersion=" + percent_encode(resource_version) +
      "&timeoutSeconds=" + std::to_string(watch_seconds(options, impl_->transport.next_seed()));
  if (!options.field_selector.empty())
    target += "&fieldSelector=" + percent_encode(options.field_selector);
  LineSplitter lines(kLongestLine);
  Status outcome;
  const auto on_line = [&](std::string_view line) -> Status {
    auto event = read_watch_line(line);
    if (!event) return std::unexpected(std::move(event.error()));
    on_event(*event);
    return {};
  };
  const auto on_bytes = [&](std::string_view bytes) {
    outcome = lines.feed(bytes, on_line);
    return outcome.has_value();
  };
  auto ended = impl_->transport.stream(target, options.longest_silence, std::move(stop), on_bytes);
  if (!outcome) return with_context("watch " + std::string(collection), std::move(outcome.error()));
  return ended;
}

}  // namespace gpuward::kube
