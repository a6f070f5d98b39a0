// The kernel's own ring buffer, /dev/kmsg: one read is one record. It continues after the record of
// the position if the boot is still the same, else at the oldest record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/kernel_log/kmsg_record.h"
#include "exporter/kernel_log/read_waiter.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {

// read(2) of the device as a seam: tests return records, EPIPE (overwritten) and EAGAIN (no more)
// in any order.
class KmsgDevice {
 public:
  virtual ~KmsgDevice() = default;
  [[nodiscard]] virtual Status open() = 0;  // at the oldest record
  virtual void close() = 0;
  // Like read(2): returns bytes read, or -errno.
  [[nodiscard]] virtual long read(char* buffer, std::size_t size) = 0;
  // True if read() would not return EAGAIN; false after `wait` or on a stop.
  [[nodiscard]] virtual bool wait(std::chrono::milliseconds wait, const std::stop_token& stop) = 0;
  // Returns the clock of its records: since boot, without suspension (CLOCK_MONOTONIC).
  [[nodiscard]] virtual std::chrono::microseconds now() const;
};

class KmsgFile final : public KmsgDevice {
 public:
  explicit KmsgFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Status open() override;
  void close() override { descriptor_.reset(); }
  [[nodiscard]] long read(char* buffer, std::size_t size) override;
  [[nodiscard]] bool wait(std::chrono::milliseconds wait, const std::stop_token& stop) override;

 private:
  std::string path_;
  Descriptor descriptor_;
  ReadWaiter waiter_;
};

class KmsgReader final : public KernelLogSource {
 public:
  // `clock` must outlive it. `start` is the position of the previous run, if there is one.
  KmsgReader(std::unique_ptr<KmsgDevice> device, const Clock& clock, std::string boot_id,
             const LogPosition& start, const StartMoment& moment = {});

  [[nodiscard]] Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                        const std::stop_token& stop) override;
  [[nodiscard]] const LogPosition& position() const override { return position_; }

 private:
  // The pieces of one line that the kernel stored as several records.
  struct Pieces {
    std::string text;
    bool is_from_user_space = false;
    std::chrono::microseconds since_boot{0};
  };

  [[nodiscard]] Result<ReadCounts> drain(const Sink& sink, const std::stop_token& stop);
  void take(const KmsgRecord& record, const Sink& sink, ReadCounts& report);
  void flush(const Sink& sink);
  void hand_out(const Sink& sink, LogRecord record, std::chrono::microseconds since_boot) const;

  std::unique_ptr<KmsgDevice> device_;
  const Clock& clock_;
  LogPosition position_;
  std::vector<char> buffer_;
  Pieces pieces_;
  // At a start without a position, records before this are history.
  std::chrono::microseconds news_since_{0};
  bool is_open_ = false;
  bool is_hole_counted_ = false;  // by an EPIPE, before the next record shows its size
  // How far the clock of the records lags behind CLOCK_MONOTONIC. NTP corrects only the latter: a
  // clock that is off by 20 ppm drifts by 1.7 s each day. Measured on records that have just
  // arrived.
  std::chrono::microseconds behind_{0};
  bool is_next_fresh_ = false;
};

}  // namespace gpuward::exporter
