#include "exporter/publish/loki_pusher.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kLongestLine = 8U << 10U;
constexpr std::size_t kMostWaitingBytes = 1U << 20U;
constexpr std::size_t kMostLinesOfAPush = 1'000;
constexpr std::size_t kMostAnswerBytes = 4U << 10U;
constexpr std::chrono::seconds kTimeout{10};
constexpr BackoffPolicy kRetry{.first = std::chrono::milliseconds(500),
                               .longest = std::chrono::seconds(30)};

std::string nanoseconds_of(WallTime at) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

std::size_t size_of(std::string_view text) { return text.size() + sizeof(KernelLine); }

// A retry cannot succeed: the lines are too old or too long, or the tenant does not exist.
bool is_for_ever(const Status& status) {
  return !status && status.error().kind == ErrorKind::kInvalid;
}

ErrorKind kind_of(int status) {
  if (status == 429) return ErrorKind::kOverloaded;
  const bool may_help = status / 100 == 5 || status == 401 || status == 403 || status == 404;
  return may_help ? ErrorKind::kUnavailable : ErrorKind::kInvalid;
}

}  // namespace

std::string loki_push_body(const std::string& node, const std::vector<KernelLine>& lines) {
  Json values = Json::array();
  for (const KernelLine& line : lines) {
    values.push_back({nanoseconds_of(line.at), to_valid_utf8(line.text, kLongestLine)});
  }
  const Json labels = {
      {"job", "gpuward-exporter"}, {"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", node}};
  return dump_json({{"streams", Json::array({{{"stream", labels}, {"values", values}}})}});
}

LokiPusher::LokiPusher(LokiTarget target, std::unique_ptr<http::Client> client, Store& store,
                       Clock& clock, Log& log)
    : target_(std::move(target)),
      client_(std::move(client)),
      store_(store),
      clock_(clock),
      log_(log),
      backoff_(kRetry),
      most_lines_(kMostLinesOfAPush) {
  store_.update_health([](Health& health) { health.loki.emplace(); });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LokiPusher::~LokiPusher() {
  thread_.request_stop();
  thread_.join();
}

void LokiPusher::offer(std::string_view text, WallTime at) {
  const std::lock_guard lock(mutex_);
  const std::string_view kept = text.substr(0, kLongestLine);
  if (waiting_bytes_ + size_of(kept) > kMostWaitingBytes) {
    ++overflown_;
  } else {
    waiting_.emplace_back(std::string(kept), at);
    waiting_bytes_ += size_of(kept);
  }
  wake_.notify_one();
}

void LokiPusher::run(const std::stop_token& stop) {
  while (true) {
    std::vector<KernelLine> batch = next_batch(stop);
    if (batch.empty()) return;
    deliver(std::move(batch), stop);
  }
}

std::vector<KernelLine> LokiPusher::next_batch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!wake_.wait(lock, stop, [&] { return !waiting_.empty(); })) return {};
  std::vector<KernelLine> batch;
  while (!waiting_.empty() && batch.size() < most_lines_) {
    waiting_bytes_ -= size_of(waiting_.front().text);
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return batch;
}

void LokiPusher::deliver(std::vector<KernelLine> batch, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Status pushed = push(loki_push_body(target_.node, batch), stop);
    if (stop.stop_requested()) return;
    report(pushed);
    if (pushed || is_for_ever(pushed)) {
      backoff_.reset();
      count(pushed ? batch.size() : 0, pushed ? 0 : batch.size());
      most_lines_ = std::min(kMostLinesOfAPush, 2 * most_lines_);
      return;
    }
    if (pushed.error().kind == ErrorKind::kOverloaded) give_back_half(batch);
    count(0, 0);
    clock_.sleep_for(backoff_.next(), stop);
  }
}

void LokiPusher::give_back_half(std::vector<KernelLine>& batch) {
  most_lines_ = (batch.size() + 1) / 2;
  const std::lock_guard lock(mutex_);
  for (; batch.size() > most_lines_; batch.pop_back()) {
    waiting_bytes_ += size_of(batch.back().text);
    waiting_.push_front(std::move(batch.back()));
  }
}

Status LokiPusher::push(const std::string& body, const std::stop_token& stop) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = target_.url + (target_.url.ends_with('/') ? "" : "/") + "loki/api/v1/push";
  request.headers = {{"Content-Type", "application/json"}};
  if (!target_.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", target_.tenant);
  request.body = body;
  request.timeout = kTimeout;
  request.max_response_bytes = kMostAnswerBytes;
  // stream() instead of a plain request, because a stop ends it. The body of a 2xx is not needed.
  const auto answer =
      client_->stream(request, kTimeout, stop, [](std::string_view) { return false; });
  if (!answer) return std::unexpected(answer.error());
  if (answer->status / 100 == 2) return {};
  return fail(kind_of(answer->status), "HTTP " + std::to_string(answer->status) + ": " +
                                           to_valid_utf8(trim(answer->body), kLongestLine / 16));
}

void LokiPusher::count(std::size_t sent, std::size_t lost) {
  std::size_t overflown = 0;
  {
    const std::lock_guard lock(mutex_);
    overflown = std::exchange(overflown_, 0);
  }
  if (sent + lost + overflown == 0) return;
  store_.update_health([&](Health& health) {
    health.loki->sent += sent;
    health.loki->lost += lost + overflown;
  });
}

void LokiPusher::report(const Status& status) {
  const std::optional<std::string> fault =
      status ? std::nullopt : std::optional(status.error().message);
  if (store_.health().loki->fault == fault) return;
  store_.update_health([&](Health& health) { health.loki->fault = fault; });
  if (fault) {
    log_.error("Cannot send kernel lines to Loki", {{"error", *fault}});
  } else {
    log_.info("Sending kernel lines to Loki");
  }
}

}  // namespace gpuward::exporter
