// What the GPU worker process and the exporter say to each other over two pipes: one line a
// message. The exporter asks with kReadRequest; the worker answers in JSON. Used by both sides.
//
// The exporter trusts nothing of what comes: whatever is not exactly a message means that the
// worker is broken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter {

constexpr std::string_view kReadRequest = "read\n";

// Of one message, its line end included. 64 GPUs with all their peers take a third of it.
constexpr std::size_t kMostMessageBytes = 2U << 20U;
constexpr std::size_t kMostTextBytes = 4096;  // of one string
constexpr std::size_t kMostListItems = 4096;  // of one list

// Of the worker: exactly one of them is there.
struct WorkerMessage {
  Maybe<std::string> progress{};  // what it is about to ask the driver
  Maybe<GpuReport> report{};      // the answer to a request
  Maybe<GpuXid> xid{};
};

// One line with its end. Texts and lists are cut at the limits, numbers that are not finite are
// absent; of a report that is too large, processes, links and peers are left out.
[[nodiscard]] std::string encode_message(const WorkerMessage& message);

// The inverse, of a line without its end. kInvalid or kTooLarge for everything else: an unknown,
// missing or doubled field, a wrong type, a number out of range.
[[nodiscard]] Result<WorkerMessage> decode_message(std::string_view line);

}  // namespace gpuward::exporter
