// A log as a file or a FIFO (--kernel-log.path). A file is read from its start, or on from the
// saved position when it is still the same one; rotation by rename and truncation are followed. A
// FIFO stays open whether or not somebody writes.
//
// The lines that were there before it have a time and a boot by their headers and by the kernel's
// banner: those of an earlier boot, and at a start without a position old ones, are history.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/xid/joiner.h"
#include "exporter/kernel_log/line_splitter.h"
#include "exporter/kernel_log/read_waiter.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {

class FileFollower final : public KernelLogSource {
 public:
  // `start` is the position of the run before, if any.
  FileFollower(const std::filesystem::path& path, LogPosition start, StartMoment moment = {});

  [[nodiscard]] Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                        const std::stop_token& stop) override;
  [[nodiscard]] const LogPosition& position() const override { return position_; }

 private:
  [[nodiscard]] Status open();
  [[nodiscard]] Status adopt(Descriptor file, bool resume);
  // The lines before the position have been handed out, but the last may be the beginning of a
  // record whose end has not been written yet.
  void recall_open_record();
  void restart_if_rewritten();
  // True when another file has taken the name: this one will not grow any more.
  [[nodiscard]] bool is_replaced() const;
  void leave_if_replaced(const Sink& sink, ReadCounts& report);
  [[nodiscard]] Result<ReadCounts> drain(const Sink& sink, const std::stop_token& stop);
  void hand_out(std::string_view line, std::size_t bytes, const Sink& sink, ReadCounts& report);
  void remember_place();
  // Remembers how long the log is before the first look at it.
  void note_start();
  // Gives a line that was there before us its time, and says whether it is history.
  void date(std::string_view line, std::uint64_t offset, LogRecord& record) const;
  // Whether the log has records of /dev/kmsg: its first line is one. In any other log a line may
  // look like one by the name of a program that has a line break in it.
  [[nodiscard]] bool has_records(std::string_view line);
  // A file that grows is noticed at once where the kernel says so, else at the next look.
  void wait_for_more(std::chrono::milliseconds wait, const std::stop_token& stop) const;

  std::filesystem::path path_;
  LogPosition position_;
  Descriptor file_, changes_;  // the second is of inotify, closed where it cannot watch the file
  bool is_fifo_ = false;
  bool may_resume_ = true;  // at the first opening and after an error, not in the next file
  StartMoment moment_;
  bool knows_start_ = false;  // a run before has left a position in this log
  // The sizes of the files that were there at the start, by inode. Lines behind that size, and all
  // of other files, are written while the log is followed.
  std::map<std::uint64_t, std::uint64_t> bytes_at_start_;
  bool has_started_ = false;
  std::uint64_t named_at_start_ = 0;  // inode of the file that had the name; 0: there was none
  // The file that is open had this size at the start; 0 if it came later.
  std::uint64_t before_until_ = 0;
  std::optional<std::uint64_t> boot_at_;  // offset at which the newest boot begins
  std::optional<bool> has_records_;       // of the file that is open; absent: no line has come yet
  int idle_looks_since_replaced_ = 0;
  std::vector<char> buffer_;
  LineSplitter lines_;
  xid::RecordJoiner joiner_;
  ReadWaiter waiter_;
};

}  // namespace gpuward::exporter
