#include "exporter/kernel_log/file_follower.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/xid/parser.h"
#include "exporter/kernel_log/kmsg_record.h"
#include "exporter/kernel_log/line_time.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {
namespace {

// Checks whether a log file is still the one that was read before, after rotation, truncation or a
// rewrite under the same name: the same inode, long enough, and the same bytes just before the
// position.

constexpr std::uint64_t kWindowBytes = 256;
constexpr int kMostNames = 1000;

// FNV-1a, 64 bits: the same in every build, so that it can be kept in a file.
std::uint64_t hash(std::string_view bytes) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    value *= 1099511628211ULL;
  }
  return value;
}

// Returns a hash of up to 256 bytes before `offset`; nullopt if they cannot be read in full.
std::optional<std::uint64_t> fingerprint_before(const Descriptor& file, std::uint64_t offset) {
  std::array<char, kWindowBytes> window{};
  const std::uint64_t size = std::min(offset, kWindowBytes);
  const ssize_t got = ::pread(file.get(), window.data(), size, static_cast<off_t>(offset - size));
  if (got < 0 || static_cast<std::uint64_t>(got) != size) return std::nullopt;
  return hash({window.data(), size});
}

// Whether reading `file` can continue at `position`.
bool continues_at(const Descriptor& file, const LogPosition& position) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || status.st_ino != position.inode) return false;
  return fingerprint_before(file, position.offset) == position.fingerprint;
}

// Returns the file of `position` under any name in its folder (logrotate renames `log` to `log.1`);
// closed if the file is gone. Checks at most 1,000 names.
Descriptor find_continuation(const std::filesystem::path& path, const LogPosition& position) {
  std::error_code error;
  int names = 0;
  for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
       !error && entry != end && names < kMostNames; entry.increment(error), ++names) {
    struct stat status{};
    const bool is_candidate = ::stat(entry->path().c_str(), &status) == 0 &&
                              S_ISREG(status.st_mode) && status.st_ino == position.inode;
    if (!is_candidate) continue;
    Descriptor file(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC));
    if (file.is_open() && continues_at(file, position)) return file;
  }
  return {};
}

constexpr std::size_t kBufferBytes = 64U << 10U;
constexpr std::uint64_t kBytesPerRead = 256U << 10U;
// The interval between checks: inotify reports no rotation, and nothing at all on some file
// systems.
constexpr std::chrono::milliseconds kLookInterval{100};
constexpr int kLooksBeforeLeaving = 5;
// More than the few lines of one broken record.
constexpr std::uint64_t kRecallBytes = 4096;

Error describe(const std::string& attempted, int number) {
  const bool forbidden = number == EACCES || number == EPERM;
  return {forbidden ? ErrorKind::kForbidden : ErrorKind::kUnavailable,
          attempted + ": " + std::generic_category().message(number),
          {}};
}

// Records of /dev/kmsg in a file keep the data about their writer. Any other line may come from any
// program.
LogRecord record_of(std::string_view line, bool has_records) {
  const auto record = has_records ? parse_kmsg_record(line) : std::nullopt;
  if (!record) return {.text = line, .writer = Writer::kUnknown};
  return {.text = record->text,
          .writer = record->is_from_user_space() ? Writer::kUserSpace : Writer::kKernel};
}

// The first message of every boot (init/main.c).
bool begins_boot(std::string_view line) {
  if (!line.contains("Linux version ")) return false;
  const auto record = parse_kmsg_record(line);
  if (record) return !record->is_from_user_space() && record->text.starts_with("Linux version ");
  return !xid::is_of_another_program(line) &&
         xid::strip_prefixes(line).starts_with("Linux version ");
}

// Returns the offset at which the newest boot begins in a file; absent if the last 64 MiB do not
// contain it.
std::optional<std::uint64_t> find_boot(const Descriptor& file) {
  constexpr std::uint64_t kMost = 64U << 20U;
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t at = size > kMost ? size - kMost : 0;
  std::optional<std::uint64_t> boot_at;
  std::vector<char> buffer(kBufferBytes);
  LineSplitter lines;
  std::uint64_t line_at = at;
  while (at < size) {
    const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (got <= 0) break;
    lines.feed({buffer.data(), static_cast<std::size_t>(got)},
               [&](std::string_view line, std::size_t bytes) {
                 if (begins_boot(line)) boot_at = line_at;
                 line_at += bytes;
               });
    at += static_cast<std::uint64_t>(got);
  }
  return boot_at;
}

// Returns an inotify descriptor, or a closed one if the file cannot be watched.
Descriptor watch(const Descriptor& file) {
  Descriptor changes(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  if (::inotify_add_watch(changes.get(), name.c_str(), IN_MODIFY) < 0) changes.reset();
  return changes;
}

}  // namespace

FileFollower::FileFollower(const std::filesystem::path& path, LogPosition start, StartMoment moment)
    : path_(std::filesystem::absolute(path)), moment_(moment), buffer_(kBufferBytes) {
  knows_start_ = start.path == path_.string() && start.inode != 0;
  if (start.path == path_.string()) position_ = std::move(start);
  position_.path = path_.string();
}

void FileFollower::note_start() {
  if (has_started_) return;
  struct stat named{};
  const bool is_there = ::stat(path_.c_str(), &named) == 0;
  if (!is_there && errno != ENOENT) return;
  has_started_ = true;
  // The file of the saved position, if replaced meanwhile, is all from before the start.
  if (position_.inode != 0)
    bytes_at_start_[position_.inode] = std::numeric_limits<std::uint64_t>::max();
  if (!is_there || !S_ISREG(named.st_mode)) return;
  named_at_start_ = named.st_ino;
  bytes_at_start_[named.st_ino] = static_cast<std::uint64_t>(named.st_size);
}

Status FileFollower::open() {
  note_start();
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  Descriptor file(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected(describe("opening " + path_.string(), errno));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(describe("reading " + path_.string(), errno));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorKind::kInvalid, path_.string() + " is a folder, not a log");
  }
  is_fifo_ = S_ISFIFO(status.st_mode);
  if (is_fifo_) {
    // The follower is also a writer, so it never sees the end of file that occurs between two
    // writers.
    file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!file_.is_open()) return std::unexpected(describe("opening " + path_.string(), errno));
    return {};
  }
  const bool resume = std::exchange(may_resume_, false) && position_.offset != 0;
  if (!resume || continues_at(file, position_)) return adopt(std::move(file), resume);
  Descriptor rotated = find_continuation(path_, position_);
  return rotated.is_open() ? adopt(std::move(rotated), true) : adopt(std::move(file), false);
}

Status FileFollower::adopt(Descriptor file, bool resume) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(describe("reading " + path_.string(), errno));
  }
  file_ = std::move(file);
  has_records_.reset();
  changes_ = watch(file_);
  lines_.clear();
  const auto at_start = bytes_at_start_.find(status.st_ino);
  before_until_ = at_start == bytes_at_start_.end() ? 0 : at_start->second;
  boot_at_ = before_until_ == 0 ? std::nullopt : find_boot(file_);
  if (!resume) position_.offset = 0;
  position_.inode = status.st_ino;
  if (::lseek(file_.get(), static_cast<off_t>(position_.offset), SEEK_SET) < 0) {
    return std::unexpected(describe("seeking in " + path_.string(), errno));
  }
  if (resume) recall_open_record();
  remember_place();
  return {};
}

void FileFollower::recall_open_record() {
  std::array<char, kRecallBytes> window{};
  const std::uint64_t size = std::min(position_.offset, kRecallBytes);
  const ssize_t got =
      ::pread(file_.get(), window.data(), size, static_cast<off_t>(position_.offset - size));
  if (got <= 0) return;
  LineSplitter lines;
  joiner_ = {};
  lines.feed({window.data(), static_cast<std::size_t>(got)},
             [this](std::string_view line, std::size_t) { (void)joiner_.push(line); });
}

void FileFollower::remember_place() {
  if (!is_fifo_) position_.fingerprint = fingerprint_before(file_, position_.offset).value_or(0);
}

void FileFollower::restart_if_rewritten() {
  if (is_fifo_ || continues_at(file_, position_)) return;
  position_.offset = 0;
  bytes_at_start_.erase(position_.inode);
  before_until_ = 0;
  has_records_.reset();
  lines_.clear();
  ::lseek(file_.get(), 0, SEEK_SET);
  remember_place();
}

bool FileFollower::has_records(std::string_view line) {
  if (has_records_) return *has_records_;
  std::array<char, kRecallBytes> begin{};
  std::string_view first = line;
  const ssize_t got = is_fifo_ ? 0 : ::pread(file_.get(), begin.data(), begin.size(), 0);
  if (got > 0) first = std::string_view(begin.data(), static_cast<std::size_t>(got));
  has_records_ = parse_kmsg_record(first).has_value();
  return *has_records_;
}

bool FileFollower::is_replaced() const {
  struct stat named{};
  return !is_fifo_ && ::stat(path_.c_str(), &named) == 0 && named.st_ino != position_.inode;
}

Result<ReadCounts> FileFollower::read(const Sink& sink, std::chrono::milliseconds wait,
                                      const std::stop_token& stop) {
  if (!file_.is_open()) {
    if (auto opened = open(); !opened) return std::unexpected(opened.error());
  }
  restart_if_rewritten();
  auto report = drain(sink, stop);
  if (!report) {
    file_.reset();
    may_resume_ = true;  // so that a restart does not count all of it again
  } else if (report->bytes != 0) {
    idle_looks_since_replaced_ = 0;
  } else if (is_fifo_) {
    if (waiter_.wait(file_.get(), wait, stop)) report = drain(sink, stop);
  } else {
    leave_if_replaced(sink, *report);
    if (file_.is_open()) wait_for_more(std::min(wait, kLookInterval), stop);
  }
  return report;
}

void FileFollower::wait_for_more(std::chrono::milliseconds wait,
                                 const std::stop_token& stop) const {
  if (!waiter_.wait(changes_.get(), wait, stop)) return;
  // Discards the events, because the file is read now; later changes cause new events.
  std::array<char, kRecallBytes> events{};
  while (::read(changes_.get(), events.data(), events.size()) > 0) continue;
}

void FileFollower::leave_if_replaced(const Sink& sink, ReadCounts& report) {
  if (!is_replaced()) return;
  // The writer may keep the old file open for a moment after the new one has appeared.
  if (++idle_looks_since_replaced_ < kLooksBeforeLeaving) return;
  lines_.finish(
      [&](std::string_view line, std::size_t bytes) { hand_out(line, bytes, sink, report); });
  idle_looks_since_replaced_ = 0;
  bytes_at_start_.erase(position_.inode);  // another file may get its inode
  file_.reset();                           // the next call opens the new one
}

void FileFollower::date(std::string_view line, std::uint64_t offset, LogRecord& record) const {
  const LineTime time = read_line_time(line, moment_.now);
  record.time = time.latest;
  bool is_of_earlier_boot = boot_at_ && offset < *boot_at_;
  // True regardless of the line's clock, which NTP may have set since. A rotated file ends before
  // the newest banner.
  const bool is_of_this_boot =
      boot_at_ && offset >= *boot_at_ && position_.inode == named_at_start_;
  if (const auto& booted = moment_.booted) {
    // The boot time has whole seconds, and the kernel's clock may be 100 ppm fast or slow.
    const auto slack = std::chrono::seconds(5) + (moment_.now - *booted) / 10'000;
    is_of_earlier_boot |= !is_of_this_boot && time.latest && *time.latest < *booted - slack;
    if (is_of_this_boot && record.time) record.time = std::max(*record.time, *booted);
    if (time.since_boot) {
      is_of_earlier_boot |= *booted + *time.since_boot > moment_.now + slack;
      record.time = std::min(*booted + *time.since_boot, moment_.now);
    }
  }
  const bool is_old = !knows_start_ && !moment_.wants_whole_boot && record.time &&
                      *record.time < moment_.now - kFreshFor;
  record.is_of_earlier_boot = is_of_earlier_boot;
  record.is_history = is_of_earlier_boot || is_old;
}

Result<ReadCounts> FileFollower::drain(const Sink& sink, const std::stop_token& stop) {
  ReadCounts report;
  while (report.bytes < kBytesPerRead && !stop.stop_requested()) {
    const ssize_t got = ::read(file_.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == EAGAIN)) break;
    if (got < 0) {
      const int number = errno;
      remember_place();
      return std::unexpected(describe("reading " + path_.string(), number));
    }
    report.bytes += static_cast<std::uint64_t>(got);
    lines_.feed(
        {buffer_.data(), static_cast<std::size_t>(got)},
        [&](std::string_view line, std::size_t bytes) { hand_out(line, bytes, sink, report); });
  }
  if (report.bytes != 0) remember_place();
  return report;
}

void FileFollower::hand_out(std::string_view line, std::size_t bytes, const Sink& sink,
                            ReadCounts& report) {
  const std::uint64_t offset = std::exchange(position_.offset, position_.offset + bytes);
  ++report.records;
  const bool is_record = has_records(line);
  LogRecord record = record_of(joiner_.push(line).text, is_record);
  if (offset < before_until_) date(line, offset, record);
  sink(record);
}

}  // namespace gpuward::exporter
