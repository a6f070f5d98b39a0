// What encoder and decoder of the protocol agree about, beside the fields themselves: which kinds
// of field there are. Inside exporter/gpu/worker only.
#pragma once

#include <chrono>
#include <optional>
#include <type_traits>
#include <vector>

#include "exporter/gpu/report/fields.h"
#include "exporter/gpu/worker/protocol.h"

namespace gpuward::exporter {

GPUWARD_FIELDS(WorkerMessage, progress, report, xid)

template <typename T>
constexpr bool kIsMaybe = false;
template <typename T>
constexpr bool kIsMaybe<std::optional<T>> = true;

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

// Numbers of an enum that mean something: 0 up to the last.
template <typename T>
constexpr T kLast = T{};
template <>
inline constexpr Vendor kLast<Vendor> = Vendor::kAmd;
template <>
inline constexpr LibraryState kLast<LibraryState> = LibraryState::kReady;
template <>
inline constexpr CperSeverity kLast<CperSeverity> = CperSeverity::kCorrected;

using WallClock = std::chrono::system_clock::time_point;

}  // namespace gpuward::exporter
