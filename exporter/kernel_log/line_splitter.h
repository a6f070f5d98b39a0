// Splits bytes into lines with a cap: the rest of a line longer than 64 KiB is dropped. Used by
// FileFollower.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuward::exporter {

class LineSplitter {
 public:
  static constexpr std::size_t kMostLineBytes = 64U << 10U;

  // Calls on_line(text, bytes) for each complete line: its text without the line end, and the
  // number of input bytes that it took.
  template <typename OnLine>
  void feed(std::string_view bytes, const OnLine& on_line) {
    for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      if (pending_bytes_ == 0 && end <= kMostLineBytes) {
        hand_out(bytes.substr(0, end), end + 1, on_line);  // the usual case: no copy
      } else {
        take(bytes.substr(0, end));
        complete(1, on_line);
      }
      bytes.remove_prefix(end + 1);
    }
    take(bytes);
  }

  // Passes on the rest at the end of a file, as its last line.
  template <typename OnLine>
  void finish(const OnLine& on_line) {
    if (pending_bytes_ != 0) complete(0, on_line);
  }

  void clear() {
    pending_.clear();
    pending_bytes_ = 0;
  }

 private:
  void take(std::string_view bytes) {
    pending_bytes_ += bytes.size();
    pending_.append(bytes.substr(0, kMostLineBytes - pending_.size()));
  }

  template <typename OnLine>
  void complete(std::size_t line_end_bytes, const OnLine& on_line) {
    hand_out(pending_, pending_bytes_ + line_end_bytes, on_line);
    clear();
  }

  template <typename OnLine>
  static void hand_out(std::string_view line, std::size_t bytes, const OnLine& on_line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    on_line(line, bytes);
  }

  std::string pending_;
  std::size_t pending_bytes_ = 0;  // of the input, dropped ones included
};

}  // namespace gpuward::exporter
