#include "remediator/cli/commands/replay_command.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/http/client/authorized_client.h"
#include "core/kube/decode.h"
#include "core/kube/names.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "remediator/cli/commands/cluster_access.h"
#include "remediator/cli/commands/given_policy.h"
#include "remediator/cli/replay/replay_text.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kStep{60};             // between samples of the history
constexpr std::chrono::hours kSlice{2};  // per request
constexpr milliseconds kSliceTimeout{60'000};
// An alert with a longer gap has ended, as in the source that reads current alerts.
constexpr std::chrono::minutes kGap{5};
constexpr std::size_t kMostNodeBytes = 256U << 20U;

Result<std::string> ask_slice(const std::string& url, http::Client& http, WallTime from,
                              WallTime to) {
  const auto unix_seconds = [](WallTime at) {
    return std::to_string(std::chrono::duration_cast<seconds>(at.time_since_epoch()).count());
  };
  http::ClientRequest request;
  request.url = url + "/api/v1/query_range?query=" + kube::percent_encode(history_query()) +
                "&start=" + unix_seconds(from) + "&end=" + unix_seconds(to) +
                "&step=" + std::to_string(kStep.count());
  request.timeout = kSliceTimeout;
  request.max_response_bytes = AlertHistory::kMostBytes;
  auto response = http.send(request);
  if (!response) return with_context("asking Prometheus for its alerts", response.error());
  if (response->status != 200) {
    return fail(ErrorKind::kUnavailable, "asking Prometheus for its alerts: it answered " +
                                             std::to_string(response->status));
  }
  return std::move(response->body);
}

Status ask_prometheus(const CommandFlags& flags, Clock& clock, AlertHistory& history) {
  const auto http =
      http::AuthorizedClient::open(flags.replay.prometheus_files, flags.replay.prometheus_url);
  if (!http) return std::unexpected(http.error());
  std::string url = flags.replay.prometheus_url;
  while (url.ends_with('/')) url.pop_back();
  const WallTime end = clock.wall();
  for (WallTime from = end - flags.replay.since; from < end; from += kSlice) {
    const auto body = ask_slice(url, **http, from, std::min<WallTime>(from + kSlice - kStep, end));
    if (!body) return std::unexpected(body.error());
    if (auto added = history.add(*body); !added) return added;
  }
  return {};
}

Result<std::vector<AlertEpisode>> read_history(const CommandFlags& flags, Clock& clock) {
  AlertHistory history(kGap);
  if (flags.replay.history.empty()) {
    if (auto asked = ask_prometheus(flags, clock, history); !asked)
      return std::unexpected(asked.error());
    return history.take();
  }
  const auto body = read_file(flags.replay.history, AlertHistory::kMostBytes);
  if (!body) return std::unexpected(body.error());
  if (auto added = history.add(*body); !added)
    return with_context(flags.replay.history, added.error());
  return history.take();
}

// Parses the output of `kubectl get nodes -o json`.
Result<std::vector<kube::Node>> parse_nodes(const std::string& file) {
  const auto text = read_file(file, kMostNodeBytes);
  if (!text) return std::unexpected(text.error());
  const auto root = parse_json(*text, {.max_bytes = kMostNodeBytes, .max_depth = 32});
  if (!root) return with_context(file, root.error());
  const Json& items = member_at(*root, "items");
  if (!items.is_array()) {
    return fail(ErrorKind::kInvalid,
                file + ": not a list of nodes; create one with `kubectl get nodes -o json`");
  }
  std::vector<kube::Node> nodes;
  for (const Json& item : items) {
    auto node = kube::decode_node(item);
    if (!node) return with_context(file, node.error());
    nodes.push_back(std::move(*node));
  }
  return nodes;
}

Result<std::vector<kube::Node>> read_nodes(const CommandFlags& flags, Clock& clock) {
  if (!flags.replay.nodes.empty()) return parse_nodes(flags.replay.nodes);
  if (flags.kubeconfig.empty() && flags.context.empty()) return std::vector<kube::Node>();
  const auto cluster = ClusterAccess::open(flags, clock);
  if (!cluster) return std::unexpected(cluster.error());
  auto nodes = (*cluster)->api().list_nodes();
  if (!nodes) return with_context("reading the nodes", nodes.error());
  return nodes;
}

}  // namespace

Result<std::string> run_replay(const CommandFlags& flags, Clock& clock) {
  if (flags.replay.history.empty() == flags.replay.prometheus_url.empty()) {
    return fail(ErrorKind::kInvalid,
                "the history of the alerts comes from --prometheus.url or from --history FILE: set "
                "exactly one of them");
  }
  auto given = read_given_policy(flags);
  if (!given) return std::unexpected(given.error());
  auto nodes = read_nodes(flags, clock);
  if (!nodes) return std::unexpected(nodes.error());
  const auto history = read_history(flags, clock);
  if (!history) return std::unexpected(history.error());
  const ReplayResult result =
      replay(std::make_shared<const Policy>(std::move(given->policy)), std::move(*nodes), *history,
             {.approves_all = flags.replay.approves_all});
  if (flags.output == OutputFormat::kTable) return replay_table(result);
  return in_format(flags.output, replay_json(result));
}

}  // namespace gpuward::remediator
