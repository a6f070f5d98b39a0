// Splits the bytes of a watch into lines and parses the lines as events. Inside core/kube only; one
// thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/model/result.h"

namespace gpuward::kube {

// Cuts a stream into lines, independent of its pieces.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest_line) : longest_line_(longest_line) {}
  // Calls `on_line` for each line that `bytes` completes, without its end; stops at the first
  // error, which it returns. kTooLarge for a line over the cap.
  [[nodiscard]] Status feed(std::string_view bytes,
                            const std::function<Status(std::string_view)>& on_line);

 private:
  std::size_t longest_line_;
  std::string begun_;
};

// Parses one line of a watch. An ERROR event is an error (kGone: the resource version is too old);
// so is a line that is not an event (kInternal).
[[nodiscard]] Result<WatchEvent> read_watch_line(std::string_view line);

}  // namespace gpuward::kube
