// A log in a file or a FIFO (--kernel-log.path). A file is read from its start, or from the saved
// position if it is still the same file; the follower handles rotation by rename and truncation. A
// FIFO stays open even without a writer.
//
// Lines from before the start get their time and boot from their headers and from the kernel's
// banner: those of an earlier boot are history and, at a start without a position, so are old ones.
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
  // `start` is the position of the previous run, if there is one.
  FileFollower(const std::filesystem::path& path, LogPosition start, StartMoment moment = {});

  [[nodiscard]] Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                        const std::stop_token& stop) override;
  [[nodiscard]] const LogPosition& position() const override { return position_; }

 private:
  [[nodiscard]] Status open();
  [[nodiscard]] Status adopt(Descriptor file, bool resume);
  // Lines before the position have been handed out, but the last of them may begin a record whose
  // end was not written yet.
  void recall_open_record();
  void restart_if_rewritten();
  // True if another file now has the name: this one will not grow any more.
  [[nodiscard]] bool is_replaced() const;
  void leave_if_replaced(const Sink& sink, ReadCounts& report);
  [[nodiscard]] Result<ReadCounts> drain(const Sink& sink, const std::stop_token& stop);
  void hand_out(std::string_view line, std::size_t bytes, const Sink& sink, ReadCounts& report);
  void remember_place();
  // Records the size of the log before it is first read.
  void note_start();
  // Sets the time of a line from before the start, and whether it is history.
  void date(std::string_view line, std::uint64_t offset, LogRecord& record) const;
  // Whether the log has records of /dev/kmsg: its first line is one. In any other log a line may
  // look like one, if the name of a program contains a line break.
  [[nodiscard]] bool has_records(std::string_view line);
  // Notices growth at once if the kernel reports it, else at the next check.
  void wait_for_more(std::chrono::milliseconds wait, const std::stop_token& stop) const;

  std::filesystem::path path_;
  LogPosition position_;
  Descriptor file_, changes_;  // changes_: of inotify, closed if it cannot watch
  bool is_fifo_ = false;
  bool may_resume_ = true;  // at the first opening and after an error, not in the next file
  StartMoment moment_;
  bool knows_start_ = false;  // the previous run left a position in this log
  // The sizes of the files at the start, by inode. Lines beyond that size, and all lines of other
  // files, were written while the log was followed.
  std::map<std::uint64_t, std::uint64_t> bytes_at_start_;
  bool has_started_ = false;
  std::uint64_t named_at_start_ = 0;  // inode of the file with that name; 0: there was none
  // The size of the open file at the start; 0 if it came later.
  std::uint64_t before_until_ = 0;
  std::optional<std::uint64_t> boot_at_;  // offset at which the newest boot begins
  std::optional<bool> has_records_;       // of the open file; absent: no line has come yet
  int idle_looks_since_replaced_ = 0;
  std::vector<char> buffer_;
  LineSplitter lines_;
  xid::RecordJoiner joiner_;
  ReadWaiter waiter_;
};

}  // namespace gpuward::exporter
