#include "exporter/commands/progress.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ostream>
#include <stop_token>
#include <utility>

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kBetweenPlainLines{30};
constexpr milliseconds kTick = seconds(1);
// A line that wraps cannot be overwritten.
constexpr std::size_t kWidestLine = 79;
constexpr std::string_view kClearLine = "\r\x1b[K";

// Returns `7:05` or `1:02:03`.
std::string clock_text(milliseconds time) {
  const auto all = std::chrono::duration_cast<seconds>(time).count();
  char text[32];
  if (all < 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(all / 60),
                  static_cast<long long>(all % 60));
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", static_cast<long long>(all / 3600),
                  static_cast<long long>(all / 60 % 60), static_cast<long long>(all % 60));
  }
  return text;
}

}  // namespace

std::optional<ProgressWish> parse_progress_wish(std::string_view word) {
  if (word == "auto") return ProgressWish::kAuto;
  if (word == "plain") return ProgressWish::kPlain;
  if (word == "off") return ProgressWish::kOff;
  return std::nullopt;
}

ProgressStyle progress_style(ProgressWish wish, bool is_terminal) {
  if (wish == ProgressWish::kOff) return ProgressStyle::kOff;
  const bool is_rewritten = wish == ProgressWish::kAuto && is_terminal;
  return is_rewritten ? ProgressStyle::kRewritten : ProgressStyle::kPlain;
}

std::string sweep_words(std::string_view check, const SweepCount& count) {
  return "sweep " + std::string(check) + ": " + std::to_string(count.done) + " done, " +
         std::to_string(count.running) + " running, " + std::to_string(count.failed) +
         " failed of " + std::to_string(count.all) + (count.all == 1 ? " node" : " nodes");
}

std::string check_words(std::string_view check, std::size_t number, std::size_t all) {
  return "quarantine " + std::string(check) + ": " + std::to_string(number) + " of " +
         std::to_string(all);
}

ProgressLine::ProgressLine(ProgressStyle style, std::ostream& out, Clock& clock)
    : style_(style), out_(out), clock_(clock) {}

ProgressLine::~ProgressLine() {
  const std::lock_guard lock(mutex_);
  show(true);
}

void ProgressLine::begin(std::string what, milliseconds limit) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  limit_ = limit;
  begun_ = clock_.steady();
  show(false);
}

void ProgressLine::update(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  show(false);
}

void ProgressLine::tick() {
  const std::lock_guard lock(mutex_);
  show(false);
}

std::string ProgressLine::text() const {
  const auto elapsed = std::chrono::duration_cast<milliseconds>(clock_.steady() - begun_);
  return "[" + clock_text(elapsed) + " of " + clock_text(limit_) + "] " + what_;
}

void ProgressLine::show(bool has_ended) {
  if (style_ == ProgressStyle::kOff || what_.empty()) return;
  if (style_ == ProgressStyle::kRewritten) {
    // The cursor stays at the beginning of the line, so that log lines overwrite it.
    out_ << kClearLine << text().substr(0, kWidestLine) << (has_ended ? '\n' : '\r') << std::flush;
    return;
  }
  if (what_ == said_) return;
  const auto now = clock_.steady();
  if (!has_ended && said_at_ && now - *said_at_ < kBetweenPlainLines) return;
  out_ << text() << '\n' << std::flush;
  said_ = what_;
  said_at_ = now;
}

ProgressTicker::ProgressTicker(ProgressLine& progress, Clock& clock)
    : thread_([&progress, &clock](const std::stop_token& stop) {
        while (clock.sleep_for(kTick, stop)) progress.tick();
      }) {}

void add_progress_flag(CLI::App& command, ProgressWish& progress) {
  command
      .add_option_function<std::string>(
          "--progress",
          [&progress](const std::string& word) {
            progress = parse_progress_wish(word).value_or(ProgressWish::kAuto);
          },
          "Progress on stderr: auto (one overwritten line on a terminal, otherwise plain lines), "
          "plain or off")
      ->check(CLI::IsMember({"auto", "plain", "off"}))
      ->default_str("auto");
}

ProgressStyle progress_on_stderr(ProgressWish wish) {
  return progress_style(wish, isatty(STDERR_FILENO) == 1);
}

}  // namespace gpuward::exporter
