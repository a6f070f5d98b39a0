#include "exporter/kernel_log/kmsg_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace gpuward::exporter {
namespace {

// The kernel's own limit for one record with its header and continuation lines is 2 KiB (8 KiB
// before 6.x with CONFIG_PRINTK_CALLER and long dictionaries): smaller buffers get EINVAL.
constexpr std::size_t kLongestRecord = 16U << 10U;
constexpr std::uint64_t kRecordsPerRead = 512;
constexpr std::size_t kMostPieceBytes = 64U << 10U;

std::string describe_errno(int number) { return std::generic_category().message(number); }

}  // namespace

std::chrono::microseconds KmsgDevice::now() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::duration_cast<std::chrono::microseconds>(
                                                std::chrono::nanoseconds(now.tv_nsec));
}

Status KmsgFile::open() {
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (descriptor_.is_open()) return {};
  const int number = errno;
  return fail(number == EACCES || number == EPERM ? ErrorKind::kForbidden : ErrorKind::kUnavailable,
              "opening " + path_ + ": " + describe_errno(number) +
                  " (reading the kernel log requires root or CAP_SYSLOG)");
}

long KmsgFile::read(char* buffer, std::size_t size) {
  const ssize_t got = ::read(descriptor_.get(), buffer, size);
  return got >= 0 ? got : -errno;
}

bool KmsgFile::wait(std::chrono::milliseconds wait, const std::stop_token& stop) {
  return waiter_.wait(descriptor_.get(), wait, stop);
}

KmsgReader::KmsgReader(std::unique_ptr<KmsgDevice> device, const Clock& clock, std::string boot_id,
                       const LogPosition& start, const StartMoment& moment)
    : device_(std::move(device)), clock_(clock), buffer_(kLongestRecord) {
  // Without a boot id the position cannot be trusted, so everything is read again: counting a
  // record twice is better than skipping one.
  if (!boot_id.empty() && start.boot_id == boot_id) position_.sequence = start.sequence;
  position_.boot_id = std::move(boot_id);
  // With the position of an earlier boot, all records of this boot are unread.
  if (!start.sequence && !moment.wants_whole_boot) news_since_ = device_->now() - kFreshFor;
}

Result<ReadCounts> KmsgReader::read(const Sink& sink, std::chrono::milliseconds wait,
                                    const std::stop_token& stop) {
  if (!is_open_) {
    if (auto opened = device_->open(); !opened) return std::unexpected(opened.error());
    is_open_ = true;
  }
  auto report = drain(sink, stop);
  if (report && report->records == 0 && report->gaps == 0 && device_->wait(wait, stop)) {
    is_next_fresh_ = true;
    report = drain(sink, stop);
    is_next_fresh_ = false;
  }
  if (!report) {
    device_->close();
    is_open_ = false;
  }
  return report;
}

Result<ReadCounts> KmsgReader::drain(const Sink& sink, const std::stop_token& stop) {
  ReadCounts report;
  while (report.records < kRecordsPerRead && !stop.stop_requested()) {
    const long got = device_->read(buffer_.data(), buffer_.size());
    if (got == -EINTR) continue;
    // Records were overwritten before they were read: the next read returns the oldest one left,
    // and its sequence number shows how many are lost.
    if (got == -EPIPE) {
      if (!is_hole_counted_) ++report.gaps;
      is_hole_counted_ = true;
      is_next_fresh_ = false;
      continue;
    }
    if (got == -EAGAIN) break;
    if (got == -EINVAL && buffer_.size() < (1U << 20U)) {
      buffer_.resize(buffer_.size() * 2);
      continue;
    }
    if (got < 0) {
      return fail(ErrorKind::kUnavailable,
                  "reading the kernel log: " + describe_errno(static_cast<int>(-got)));
    }
    if (got == 0) break;
    const std::string_view raw(buffer_.data(), static_cast<std::size_t>(got));
    report.bytes += raw.size();
    if (const auto record = parse_kmsg_record(raw)) take(*record, sink, report);
  }
  flush(sink);
  return report;
}

void KmsgReader::take(const KmsgRecord& record, const Sink& sink, ReadCounts& report) {
  if (position_.sequence && record.sequence <= *position_.sequence) return;
  // The first start cannot know the records before its first one; any later hole is a loss.
  if (position_.sequence && record.sequence > *position_.sequence + 1) {
    if (!is_hole_counted_) ++report.gaps;
    report.lost_records += record.sequence - *position_.sequence - 1;
  }
  is_hole_counted_ = false;
  if (std::exchange(is_next_fresh_, false)) behind_ = device_->now() - record.since_boot;
  position_.sequence = record.sequence;
  ++report.records;
  const bool continues = record.flag == '+' && !pieces_.text.empty() &&
                         pieces_.is_from_user_space == record.is_from_user_space();
  if (continues && pieces_.text.size() + record.text.size() <= kMostPieceBytes) {
    pieces_.text += record.text;
    return;
  }
  flush(sink);
  if (record.flag != '-') {
    pieces_ = {std::string(record.text), record.is_from_user_space(), record.since_boot};
    return;
  }
  const Writer writer = record.is_from_user_space() ? Writer::kUserSpace : Writer::kKernel;
  hand_out(sink, {.text = record.text, .writer = writer, .pci_device = record.pci_device},
           record.since_boot);
}

void KmsgReader::flush(const Sink& sink) {
  if (pieces_.text.empty()) return;
  const Writer writer = pieces_.is_from_user_space ? Writer::kUserSpace : Writer::kPieces;
  hand_out(sink, {.text = pieces_.text, .writer = writer}, pieces_.since_boot);
  pieces_.text.clear();
}

void KmsgReader::hand_out(const Sink& sink, LogRecord record,
                          std::chrono::microseconds since_boot) const {
  const auto age = std::max(device_->now() - since_boot - behind_, std::chrono::microseconds(0));
  record.time = clock_.wall() - std::chrono::duration_cast<Clock::Wall::duration>(age);
  record.is_history = since_boot < news_since_;
  sink(record);
}

}  // namespace gpuward::exporter
