// Puts a record together again that a text log has broken into lines: the GPU that has fallen off
// the bus at probe time is one record of three lines, of which only the last says so. Used for
// files, FIFOs, parse-log and lines of Loki; the records of /dev/kmsg are whole already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuward::xid {

class RecordJoiner {
 public:
  // What parse_record() is to be given, and the number (1 and up) of its first line.
  struct Record {
    std::string_view text;  // valid until the next push() and as long as the line given to it
    std::uint64_t line = 0;
  };

  // Call with each line, without its line break and in order. Every line comes back at once, as
  // itself; only the line that completes a broken record comes back as that record, with the number
  // of the first. Nothing is held back that could be an event, so that there is nothing to flush at
  // the end. Other lines may stand between the parts, as when processors log at the same time.
  // Memory is bounded.
  [[nodiscard]] Record push(std::string_view line);
  // A record has begun and may be completed yet.
  [[nodiscard]] bool is_open() const {
    return !head_.empty() && line_ - head_line_ <= kMaxDistance;
  }

 private:
  // The record has three lines, on older drivers four; the others come from other processors.
  static constexpr std::uint64_t kMaxDistance = 8;

  [[nodiscard]] bool begins(std::string_view message);
  [[nodiscard]] bool completes(std::string_view message);

  std::string head_;  // the message of the first line; empty where none is open
  std::string joined_;
  std::uint64_t head_line_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace gpuward::xid
