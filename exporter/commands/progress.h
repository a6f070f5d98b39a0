// The progress of long work, for the people who wait for it: on a terminal one line that is
// overwritten, elsewhere (the log of a Job) a plain line after a change, at most every 30 s. The
// commands sweep and quarantine write it to stderr, because stdout is for programs.
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

// How many nodes of a sweep are in each state. `failed` includes nodes without a result.
struct SweepCount {
  std::size_t done = 0, running = 0, failed = 0, all = 0;

  friend bool operator==(const SweepCount&, const SweepCount&) = default;
};

[[nodiscard]] std::string sweep_words(std::string_view check, const SweepCount& count);
// `number` of `all`, counted from 1.
[[nodiscard]] std::string check_words(std::string_view check, std::size_t number, std::size_t all);

// Thread-safe.
class ProgressLine {
 public:
  // `out` and `clock` must outlive it.
  ProgressLine(ProgressStyle style, std::ostream& out, Clock& clock);
  // Prints the last change if it was not printed yet, and ends the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Starts work that takes at most `limit`; its time starts now.
  void begin(std::string what, std::chrono::milliseconds limit);
  // Updates the text of the current work.
  void update(std::string what);
  // Updates the time. Call it about every second.
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

// Calls tick() while another thread works.
class ProgressTicker {
 public:
  ProgressTicker(ProgressLine& progress, Clock& clock);

 private:
  std::jthread thread_;
};

// `progress` must outlive the command.
void add_progress_flag(CLI::App& command, ProgressWish& progress);
// Returns the style to use on this process's stderr.
[[nodiscard]] ProgressStyle progress_on_stderr(ProgressWish wish);

}  // namespace gpuward::exporter
