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
// The server ends the watch after that time, after a bookmark 2 s before (client-go's reflectors
// ask for 5 to 10 minutes; ours want to know sooner that nothing was kept from them). One more
// request in 15 to 20 s for each watch, served from the server's memory; the bookmark keeps the
// version young, so that none of them needs a list.
constexpr int kShortestWatchSeconds = 15;
constexpr int kLongestWatchSeconds = 20;
// A longer silence is a connection that died without a word: the server would have ended it.
constexpr std::chrono::milliseconds kLongestSilence{25'000};

// Spread, so that the watches of a whole fleet do not end together.
int watch_seconds(std::uint64_t seed) {
  std::mt19937_64 random(seed != 0 ? seed : std::random_device{}());
  return std::uniform_int_distribution<int>(kShortestWatchSeconds, kLongestWatchSeconds)(random);
}

}  // namespace

Status Api::watch(std::string_view collection, std::string_view resource_version,
                  std::stop_token stop, const std::function<void(const WatchEvent&)>& on_event) {
  const std::string target =
      std::string(collection) +
      "?watch=true&allowWatchBookmarks=true&resourceVersion=" + percent_encode(resource_version) +
      "&timeoutSeconds=" + std::to_string(watch_seconds(impl_->transport.next_seed()));
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
  auto ended = impl_->transport.stream(target, kLongestSilence, std::move(stop), on_bytes);
  if (!outcome) return with_context("watch " + std::string(collection), std::move(outcome.error()));
  return ended;
}

}  // namespace gpuward::kube
