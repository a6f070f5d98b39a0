// The kernel's own ring buffer, /dev/kmsg: one read is one record. Goes on after the record that
// the position names when the boot is still the same, else from the oldest record there is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "exporter/kernel_log/kmsg_record.h"
#include "exporter/kernel_log/read_waiter.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {

// read(2) of the device as a seam: tests give records, EPIPE (overwritten), EAGAIN (no more) in any
// order.
class KmsgDevice {
 public:
  virtual ~KmsgDevice() = default;
  [[nodiscard]] virtual Status open() = 0;  // at the oldest record
  virtual void close() = 0;
  // As read(2): bytes read, or -errno.
  [[nodiscard]] virtual long read(char* buffer, std::size_t size) = 0;
  // True when read() would not say EAGAIN; false after `wait` or on a stop.
  [[nodiscard]] virtual bool wait(std::chrono::milliseconds wait, const std::stop_token& stop) = 0;
  // What the clock of its records shows now: since boot, without suspension (CLOCK_MONOTONIC).
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
  // `clock` must outlive it. `start` is the position of the run before, if any.
  KmsgReader(std::unique_ptr<KmsgDevice> device, const Clock& clock, std::string boot_id,
             const LogPosition& start, const StartMoment& moment = {});

  [[nodiscard]] Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                        const std::stop_token& stop) override;
  [[nodiscard]] const LogPosition& position() const override { return position_; }

 private:
  // Pieces of one line that the kernel had to store as several records.
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
  // At a start without a position: records before this are history.
  std::chrono::microseconds news_since_{0};
  bool is_open_ = false;
  bool is_hole_counted_ = false;  // by an EPIPE, before the next record tells its size
  // How far the clock of records is behind CLOCK_MONOTONIC. NTP corrects only the latter: a clock
  // that is off by 20 ppm is 1.7 s further away each day. Learnt from records that have just come.
  std::chrono::microseconds behind_{0};
  bool is_next_fresh_ = false;
};

}  // namespace gpuward::exporter
