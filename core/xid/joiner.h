// Rejoins a record that a text log has broken into lines: a GPU that has fallen off the bus at
// probe time is one record of three lines, and only the last says so. Used for files, FIFOs,
// parse-log and lines of Loki; records of /dev/kmsg are whole already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuward::xid {

class RecordJoiner {
 public:
  // The text for parse_record(), and the number (1 and up) of its first line.
  struct Record {
    std::string_view text;  // valid until the next push() and as long as its argument
    std::uint64_t line = 0;
  };

  // Call it with each line in order, without its line break. Each call returns a record at once:
  // the line itself or, if the line completes a broken record, that record with the number of its
  // first line. It never holds back a possible event, so there is nothing to flush at the end.
  // Other lines may come between the parts, as when several processors log at the same time. Memory
  // is bounded.
  [[nodiscard]] Record push(std::string_view line);
  // Whether a record has begun and may still be completed.
  [[nodiscard]] bool is_open() const {
    return !head_.empty() && line_ - head_line_ <= kMaxDistance;
  }

 private:
  // The record has three lines, four with older drivers; the others come from other processors.
  static constexpr std::uint64_t kMaxDistance = 8;

  [[nodiscard]] bool begins(std::string_view message);
  [[nodiscard]] bool completes(std::string_view message);

  std::string head_;  // the message of the first line; empty if no record is open
  std::string joined_;
  std::uint64_t head_line_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace gpuward::xid
