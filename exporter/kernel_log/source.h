// Where kernel-log records come from: /dev/kmsg, a file, a FIFO. Read by the watcher's thread, in
// batches; after each batch position() says where to go on, so that counts and position are kept
// together and a restart counts nothing twice and loses nothing.
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

// How far a source has been read. Only the fields of its kind are set.
struct LogPosition {
  std::string path;                       // what was read; another path starts from its beginning
  std::string boot_id;                    // kmsg: sequence numbers start anew at each boot
  std::optional<std::uint64_t> sequence;  // kmsg: of the last record handed out
  std::uint64_t inode = 0;                // file: which one it was, whatever its name is now
  std::uint64_t offset = 0;               // file: of the first byte not handed out
  std::uint64_t fingerprint = 0;  // file: hash of the bytes just before that (file_follower.cpp)
  bool operator==(const LogPosition&) const = default;
};

// Who has written a record, as far as its source can tell.
enum class Writer : std::uint8_t {
  kKernel,     // facility 0 of /dev/kmsg: the kernel, which may print a name that a process chose
  kUserSpace,  // any other facility
  kPieces,     // facility 0, a line that came in pieces: one may begin with such a name
  kUnknown,    // a line of a text log
};

// All text is valid during the call.
struct LogRecord {
  std::string_view text;  // as the source has it
  Writer writer = Writer::kKernel;
  // When the kernel logged it; absent if the source does not say.
  std::optional<std::chrono::system_clock::time_point> time = {};
  // The address on the PCI bus that the kernel has put beside the message (dev_printk); empty if
  // none. No process can write it.
  std::string_view pci_device = {};
  // The record is of an earlier boot, or was more than kFreshFor old when it was read at a start
  // without a position: an operator may have dealt with it since.
  bool is_history = false;
  bool is_of_earlier_boot = false;  // is_history is set too

  // The message that the kernel or a program has printed, without the header that the log adds.
  [[nodiscard]] std::string_view message() const;
};

// When the exporter started, and the machine before it. It shows which lines of a text log are of
// an earlier boot; without it none is.
struct StartMoment {
  std::chrono::system_clock::time_point now = {};
  std::optional<std::chrono::system_clock::time_point> booted = {};
  // The log is read once for one answer, by a program that keeps no position: no line of this boot
  // is too old.
  bool wants_whole_boot = false;
};

// The age up to which a record counts as news at a start without a position: a new exporter reports
// faults of the time in which it was being rolled out.
inline constexpr std::chrono::hours kFreshFor{2};

// What one read() has met, beside the records.
struct ReadCounts {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t gaps = 0;          // times that something was missing
  std::uint64_t lost_records = 0;  // records missing, as far as sequence numbers tell
};

class KernelLogSource {
 public:
  using Sink = std::function<void(const LogRecord&)>;

  virtual ~KernelLogSource() = default;

  // Watcher's thread. Waits until there is something to read, `wait` has passed or `stop` is
  // requested, then returns what is there, at most a few hundred records. An error means that the
  // source cannot be read now; a later call opens it again.
  [[nodiscard]] virtual Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds wait,
                                                const std::stop_token& stop) = 0;
  // Watcher's thread, after read(): everything before it has been handed out.
  [[nodiscard]] virtual const LogPosition& position() const = 0;
};

}  // namespace gpuward::exporter
