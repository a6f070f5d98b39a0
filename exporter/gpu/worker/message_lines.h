// Splits the bytes of a pipe into lines of limited length. Used by RunningWorker for the worker's
// messages (a longer line is an error) and for its stderr (the excess is dropped).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuward::exporter {

class MessageLines {
 public:
  explicit MessageLines(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls on_line(text) for each complete line, without its end.
  template <typename OnLine>
  void feed(std::string_view bytes, const OnLine& on_line) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      take(bytes.substr(0, end));
      if (end == std::string_view::npos) return;
      on_line(std::string_view(pending_));
      pending_.clear();
      bytes.remove_prefix(end + 1);
    }
  }

  // Whether any line was longer than allowed; stays true.
  [[nodiscard]] bool has_overflowed() const { return has_overflowed_; }

 private:
  void take(std::string_view part) {
    const std::size_t room = most_bytes_ - pending_.size();
    has_overflowed_ |= part.size() > room;
    pending_.append(part.substr(0, room));
  }

  std::size_t most_bytes_;
  std::string pending_;
  bool has_overflowed_ = false;
};

}  // namespace gpuward::exporter
