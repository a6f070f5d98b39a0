// How far long work is, for the people who wait for it: on a terminal one line that is written
// over, elsewhere (the log of a Job) a plain line when something has changed, at most every 30 s.
// Used by the commands sweep and quarantine, which write it to stderr: stdout is for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/runtime/clock.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace gpuward::exporter {

enum class ProgressWish : std::uint8_t { kAuto, kPlain, kOff };

[[nodiscard]] std::optional<ProgressWish> parse_progress_wish(std::string_view word);

enum class ProgressStyle : std::uint8_t { kOff, kPlain, kRewritten };

[[nodiscard]] ProgressStyle progress_style(ProgressWish wish, bool is_terminal);

// Of a sweep: how many of all its nodes are where. Failed are also those that nothing is known of.
struct SweepCount {
  std::size_t done = 0, running = 0, failed = 0, all = 0;

  friend bool operator==(const SweepCount&, const SweepCount&) = default;
};

[[nodiscard]] std::string sweep_words(std::string_view check, const SweepCount& count);
// `number` of `all`, counted from 1.
[[nodiscard]] std::string check_words(std::string_view check, std::size_t number, std::size_t all);

// Any thread.
class ProgressLine {
 public:
  // `out` and `clock` must outlive it.
  ProgressLine(ProgressStyle style, std::ostream& out, Clock& clock);
  // Says what has not been said yet, and ends the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Something begins that takes `limit` at most; its time counts from now.
  void begin(std::string what, std::chrono::milliseconds limit);
  // The same, further on.
  void update(std::string what);
  // Time has passed; to be called every second or so.
  void tick();

 private:
  [[nodiscard]] std::string text() const;
  void show(bool has_ended);

  const ProgressStyle style_;
  std::ostream& out_;
  Clock& clock_;
  std::mutex mutex_;
  std::string what_, said_;
  Clock::Steady begun_{};
  std::chrono::milliseconds limit_{0};
  std::optional<Clock::Steady> said_at_;
};

// Ticks while somebody else is at work.
class ProgressTicker {
 public:
  ProgressTicker(ProgressLine& progress, Clock& clock);

 private:
  std::jthread thread_;
};

// `progress` has to outlive the command.
void add_progress_flag(CLI::App& command, ProgressWish& progress);
// As wished, on this process's stderr.
[[nodiscard]] ProgressStyle progress_on_stderr(ProgressWish wish);

}  // namespace gpuward::exporter
