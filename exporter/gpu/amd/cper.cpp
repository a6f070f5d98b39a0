#include "exporter/gpu/amd/cper.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/gpu/amd/amd_smi_abi.h"

namespace gpuward::exporter::amd {
namespace {

std::optional<CperSeverity> severity_of(std::uint32_t number) {
  if (number == smi::kCperUncorrected) return CperSeverity::kUncorrected;
  if (number == smi::kCperFatal) return CperSeverity::kFatal;
  if (number == smi::kCperCorrected) return CperSeverity::kCorrected;
  return std::nullopt;
}

// The first drivers that kept records left it 0.
Maybe<std::chrono::system_clock::time_point> time_of(const smi::CperTime& time) {
  using std::chrono::year_month_day;
  const year_month_day date{std::chrono::year(2000 + time.year), std::chrono::month(time.month),
                            std::chrono::day(time.day)};
  const bool is_time = time.hours < 24 && time.minutes < 60 && time.seconds <= 60;
  if (!date.ok() || !is_time || time.year > 99) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(time.hours) +
         std::chrono::minutes(time.minutes) + std::chrono::seconds(time.seconds);
}

std::string name_of(std::uint64_t notify_type) {
  const auto* const known =
      std::ranges::find(smi::kNotifyTypes, notify_type, &smi::NotifyType::number);
  return known == std::end(smi::kNotifyTypes) ? std::string() : known->name;
}

}  // namespace

std::optional<CperRecord> parse_cper(std::string_view bytes) {
  smi::CperHeader header{};
  if (bytes.size() < sizeof header || !bytes.starts_with("CPER")) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto severity = severity_of(header.severity);
  if (!severity || header.bytes < sizeof header || header.bytes > bytes.size()) {
    return std::nullopt;
  }
  const std::string_view id(header.record_id, sizeof header.record_id);
  CperRecord record;
  record.severity = *severity;
  record.recorded_at = time_of(header.time);
  record.id = to_valid_utf8(id.substr(0, id.find('\0')));
  record.notify_type = name_of(header.notify_type);
  return record;
}

void keep_later(Maybe<CperRecord>& latest, CperRecord record) {
  const bool is_tie = latest && latest->recorded_at && record.recorded_at == latest->recorded_at;
  const bool is_earlier = latest && record.recorded_at < latest->recorded_at;
  const bool is_milder =
      latest && latest->severity == CperSeverity::kFatal && record.severity != CperSeverity::kFatal;
  if (is_earlier || (is_tie && is_milder)) return;
  latest = std::move(record);
}

void take_record(Maybe<CperRecord>& latest, std::string_view filled, const void* place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(filled.data());
  const auto at = reinterpret_cast<std::uintptr_t>(place);
  if (at < begin || at - begin >= filled.size()) return;
  if (auto record = parse_cper(filled.substr(at - begin))) keep_later(latest, *std::move(record));
}

}  // namespace gpuward::exporter::amd
