// The sources of kernel-log records: /dev/kmsg, a file, a FIFO. The watcher's thread reads them in
// batches. After each batch, position() says where to continue, so that counts and position are
// saved together and a restart counts nothing twice and loses nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/model/result.h"

namespace gpuward::exporter {

// How far a source was read. Only the fields of its kind are set.
struct LogPosition {
  std::string path;                       // the log read; another path starts at its start
  std::string boot_id;                    // kmsg: sequence numbers restart at each boot
  std::optional<std::uint64_t> sequence;  // kmsg: of the last record handed out
  std::uint64_t inode = 0;                // file: its inode, independent of its name
  std::uint64_t offset = 0;               // file: of the first byte not handed out
  std::uint64_t fingerprint = 0;  // file: hash of the bytes just before that (file_follower.cpp)
  bool operator==(const LogPosition&) const = default;
};

// The writer of a record, as far as the source shows it.
enum class Writer : std::uint8_t {
  kKernel,     // facility 0 of /dev/kmsg: the kernel, which may print a name that a process chose
  kUserSpace,  // any other facility
  kPieces,     // facility 0, a line in pieces: one may begin with such a name
  kUnknown,    // a line of a text log
};

// All text is valid only during the call.
struct LogRecord {
  std::string_view text;  // as in the source
  Writer writer = Writer::kKernel;
  // When the kernel logged it; absent if the source has no time.
  std::optional<std::chrono::system_clock::time_point> time = {};
  // The PCI address that the kernel has attached to the message (dev_printk); empty if none. No
  // process can write it.
  std::string_view pci_device = {};
  // The record is of an earlier boot, or was older than kFreshFor when it was read at a start
  // without a position: an operator may have handled it since.
  bool is_history = false;
  bool is_of_earlier_boot = false;  // is_history is set too

  // Returns the message that the kernel or a program has printed, without the log's header.
  [[nodiscard]] std::string_view message() const;
};

// When the exporter started, and when the machine booted. It shows which lines of a text log are of
// an earlier boot; without it, none is.
struct StartMoment {
  std::chrono::system_clock::time_point now = {};
  std::optional<std::chrono::system_clock::time_point> booted = {};
  // A program reads the log once for one result and keeps no position: no line of this boot is too
  // old.
  bool wants_whole_boot = false;
};

// The age up to which a record counts as news at a start without a position, so that a new exporter
// reports faults from the time of its rollout.
inline constexpr std::chrono::hours kFreshFor{2};

// The counts of one read(), besides the records.
struct ReadCounts {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t gaps = 0;          // times that something was missing
  std::uint64_t lost_records = 0;  // missing records, by their sequence numbers
};

class KernelLogSource {
 public:
  using Sink = std::function<void(const LogRecord&)>;

  virtual ~KernelLogSource() = default;

  // Watcher's thread. Waits until there is something to read, `wait` has passed or `stop` is
  // requested, then passes on the available records, at most a few hundred. An error means that the
  // source cannot be read now; a later call opens it again.
  [[nodiscard]] virtual Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                                const std::stop_token& stop) = 0;
  // Watcher's thread, after read(): all records before it have been passed on.
  [[nodiscard]] virtual const LogPosition& position() const = 0;
};

}  // namespace gpuward::exporter
