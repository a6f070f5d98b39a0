// The messages between the GPU worker process and the exporter over two pipes: one line a message.
// The exporter sends kReadRequest; the worker responds in JSON. Used by both sides.
//
// The exporter trusts no input: anything but an exact message means that the worker is broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

constexpr std::string_view kReadRequest = "read\n";

// The limit of one message, its line end included. 64 GPUs with all their peers need a third of it.
constexpr std::size_t kMostMessageBytes = 2U << 20U;
constexpr std::size_t kMostTextBytes = 4096;  // of one string
constexpr std::size_t kMostListItems = 4096;  // of one list

// A message of the worker: exactly one of the fields is set.
struct WorkerMessage {
  Maybe<std::string> progress{};  // the next query to the driver
  Maybe<GpuReport> report{};      // the response to a request
  Maybe<GpuXid> xid{};
};

// Returns one line with its end. Texts and lists are cut at the limits, numbers that are not finite
// are absent; a report that is too large omits processes, links and peers.
[[nodiscard]] std::string encode_message(const WorkerMessage& message);

// The inverse, for a line without its end. kInvalid or kTooLarge for any fault: an unknown, missing
// or duplicate field, a wrong type, a number out of range.
[[nodiscard]] Result<WorkerMessage> decode_message(std::string_view line);

}  // namespace gpuward::exporter
