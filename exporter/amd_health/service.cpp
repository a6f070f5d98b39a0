#include "exporter/amd_health/service.h"

#include <system_error>
#include <utility>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kProgram = "gpuward-amd-health";
constexpr BackoffPolicy kRestarts{.first = seconds(1), .longest = seconds(60)};
// A child that ran for this time did not fail to start.
constexpr seconds kStable{60};
// The interval between checks of whether the child still runs.
constexpr milliseconds kLook{500};
constexpr milliseconds kGrace{2000};

std::vector<std::string> command_of(const AmdHealthOptions& options) {
  std::filesystem::path program = options.program;
  std::error_code ignored;
  if (program.empty()) {
    program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kProgram;
  }
  std::vector<std::string> command{program.string(), "--socket", options.socket.string()};
  if (options.may_pretend_errors) command.emplace_back("--debug.allow-injection");
  return command;
}

}  // namespace

AmdHealthService::AmdHealthService(AmdHealthOptions options, Store& store,
                                   CurrentThresholds thresholds, Clock& clock, Log& log)
    : options_(std::move(options)),
      store_(store),
      thresholds_(std::move(thresholds)),
      clock_(clock),
      log_(log),
      backoff_(kRestarts),
      next_start_(clock.steady()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

AmdHealthService::~AmdHealthService() {
  thread_.request_stop();
  thread_.join();
}

void AmdHealthService::run(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  while (!stop.stop_requested()) {
    start_if_due();
    const std::uint64_t version = store_.version();
    if (child_ && (version != seen || told_.empty())) tell();
    if (child_) look_at_child();
    seen = version;
    store_.wait_for_change(seen, kLook, stop);
  }
  end_child();
}

void AmdHealthService::start_if_due() {
  if (child_ || clock_.steady() < next_start_) return;
  auto started = WorkerProcess::start(command_of(options_));
  if (!started) return fail_child(started.error().message);
  child_ = std::move(*started);
  started_ = clock_.steady();
  told_.clear();
  log_.info("Started AMD health service", {{"socket", options_.socket.string()}});
}

void AmdHealthService::tell() {
  std::string line = health_line(store_.snapshot(), options_.vendors, thresholds_());
  if (line == told_) return;
  // A child that does not empty its pipe between two changes hangs.
  if (!child_->send(line)) return fail_child("it does not read its input");
  told_ = std::move(line);
}

void AmdHealthService::look_at_child() {
  const auto status = child_->try_reap();
  if (!status) return;
  const std::string said(trim(to_valid_utf8(child_->read_complaints(), 512)));
  fail_child(said.empty() ? "it ended with wait status " + std::to_string(*status) : said);
}

void AmdHealthService::fail_child(const std::string& why) {
  const auto now = clock_.steady();
  if (child_ && now - started_ >= kStable) backoff_.reset();
  const milliseconds wait = backoff_.next();
  next_start_ = now + wait;
  end_child();
  if (options_.is_by_default && why == last_failure_) return;
  last_failure_ = why;
  log_.error("AMD health service is not running, retrying",
             {{"why", why}, {"in_ms", std::to_string(wait.count())}});
}

// Closing the child's input ends it; it then removes its socket.
void AmdHealthService::end_child() {
  if (!child_) return;
  child_->close_input();
  const auto deadline = clock_.steady() + kGrace;
  while (!child_->try_reap() && clock_.steady() < deadline) {
    clock_.sleep_for(milliseconds(10), {});
  }
  child_->kill();
  while (!child_->try_reap() && clock_.steady() < deadline + kGrace) {
    clock_.sleep_for(milliseconds(10), {});
  }
  child_.reset();
}

}  // namespace gpuward::exporter
