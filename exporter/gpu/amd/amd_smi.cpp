#include "exporter/gpu/amd/amd_smi.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/gpu/amd/amd_smi_abi.h"
#include "exporter/gpu/amd/ras.h"
#include "exporter/gpu/report/reading.h"

namespace gpuward::exporter::amd {
struct AmdSmi::Functions {
  smi::GetLibVersion get_lib_version = nullptr;
  smi::Init init = nullptr;
  smi::ShutDown shut_down = nullptr;
  smi::GetSocketHandles get_socket_handles = nullptr;
  smi::GetProcessorHandles get_processor_handles = nullptr;
  smi::GetDeviceBdf get_device_bdf = nullptr;
  smi::GetDeviceUuid get_device_uuid = nullptr;
  smi::GetEccCount get_ecc_count = nullptr;
  smi::GetCperEntries get_cper_entries = nullptr;  // some libraries lack it
  smi::GetAfids get_afids = nullptr;               // likewise
  smi::StatusCodeToString status_code_to_string = nullptr;
};

namespace {

// AMD's error records (CPER), of which the driver keeps the newest thousands: reads a record's
// header and finds the latest record. Pure; checks a record before it uses any of it. Used by
// AmdSmi.

std::optional<CperSeverity> severity_of(std::uint32_t number) {
  if (number == smi::kCperUncorrected) return CperSeverity::kUncorrected;
  if (number == smi::kCperFatal) return CperSeverity::kFatal;
  if (number == smi::kCperCorrected) return CperSeverity::kCorrected;
  return std::nullopt;
}

// The first drivers with records left the time 0.
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

// `bytes` begins with the record and may contain more. nullopt if it is not a record, if its length
// is less than a header's or more than `bytes` has, or if its severity is unknown.
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

struct RecordAndBytes {
  CperRecord record;
  std::string bytes;  // the whole record, for the library to decode
};

// Whether `record` replaces `latest`: the record with the later time wins, one with a time over one
// without, and of two without a time the later in the list. In the same second a fatal one wins,
// because their order is unknown.
bool is_later(const CperRecord& record, const CperRecord& latest) {
  const bool is_tie = latest.recorded_at && record.recorded_at == latest.recorded_at;
  const bool is_earlier = record.recorded_at < latest.recorded_at;
  const bool is_milder =
      latest.severity == CperSeverity::kFatal && record.severity != CperSeverity::kFatal;
  return !is_earlier && !(is_tie && is_milder);
}

// Keeps the record at `place` if it is the later one; ignores a place outside `filled`.
void take_record(std::optional<RecordAndBytes>& latest, std::string_view filled,
                 const void* place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(filled.data());
  const auto at = reinterpret_cast<std::uintptr_t>(place);
  if (at < begin || at - begin >= filled.size()) return;
  const std::string_view bytes = filled.substr(at - begin);
  auto record = parse_cper(bytes);
  if (!record || (latest && !is_later(*record, latest->record))) return;
  smi::CperHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  latest = {*std::move(record), std::string(bytes.substr(0, header.bytes))};
}

// No known record has more.
constexpr std::uint32_t kMostAfids = 16;

std::vector<std::uint64_t> afids_of(smi::GetAfids get_afids, std::string record) {
  std::array<std::uint64_t, kMostAfids> afids{};
  std::uint32_t count = kMostAfids;
  if (get_afids == nullptr || get_afids(record.data(), static_cast<std::uint32_t>(record.size()),
                                        afids.data(), &count) != smi::kSuccess) {
    return {};
  }
  return {afids.begin(), afids.begin() + std::min(count, kMostAfids)};
}

// The most that a node can have: eight boards, each split into eight.
constexpr std::uint32_t kMostHandles = 1024;

// One call returns all records that today's GPUs can have: the driver keeps 1 MiB of them, 4 MiB at
// most. The calls are limited too, because a library could always report more.
constexpr std::uint64_t kMostRecordBytes = 4U << 20U;
constexpr std::uint64_t kMostRecords = 4096;
constexpr int kMostRecordCalls = 16;

// Never closed: ROCm's libraries have threads and destructors that do not survive unmapping. They
// end with the worker process.
Result<void*> load(const std::string& name) {
  if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const reason = ::dlerror();
  std::string words = reason == nullptr ? name + " cannot be loaded" : reason;
  // glibc's message. If a dependency of the library is missing, the message names the dependency.
  const bool is_absent = words.starts_with(name + ": cannot open shared object file:") &&
                         words.ends_with("No such file or directory");
  return fail(is_absent ? ErrorKind::kNotFound : ErrorKind::kUnavailable, std::move(words));
}

template <typename Function>
Status bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function != nullptr) return {};
  return fail(ErrorKind::kUnavailable, std::string("libamd_smi has no function ") + name);
}

std::string describe(const std::string& call, smi::Status status, smi::StatusCodeToString to_text) {
  const char* text = nullptr;
  std::string words = call + " answered " + std::to_string(status);
  if (to_text(status, &text) == smi::kSuccess && text != nullptr) {
    words += ": " + to_valid_utf8(text, 256);
  }
  return words;
}

PciAddress address_of(smi::Bdf bdf) {
  return {static_cast<std::uint32_t>(bdf >> 16U), static_cast<std::uint8_t>(bdf >> 8U),
          static_cast<std::uint8_t>(bdf >> 3U & 0x1FU), static_cast<std::uint8_t>(bdf & 0x7U)};
}

std::string version_text(const smi::Version& version) {
  return std::to_string(version.generation) + "." + std::to_string(version.words[0]) + "." +
         std::to_string(version.words[1]);
}

// Returns the handles that `ask` lists: it asks for their number first, then for the handles.
template <typename Ask>
std::vector<smi::Handle> list_handles(const Ask& ask) {
  std::uint32_t count = 0;
  if (ask(&count, nullptr) != smi::kSuccess || count == 0 || count > kMostHandles) return {};
  std::vector<smi::Handle> handles(count);
  if (ask(&count, handles.data()) != smi::kSuccess) return {};
  if (count < handles.size()) handles.resize(count);
  return handles;
}

// Called before any other function of the library, because the version decides whether they fit.
Status check_generation(smi::GetLibVersion get_lib_version, std::string& text) {
  smi::Version version{};
  if (get_lib_version(&version) != smi::kSuccess) {
    return fail(ErrorKind::kUnavailable, "libamd_smi does not report its version");
  }
  text = version_text(version);
  if (version.generation >= smi::kOldestGeneration &&
      version.generation <= smi::kNewestGeneration) {
    return {};
  }
  return fail(ErrorKind::kInvalid, "libamd_smi " + text +
                                       " is not supported: gpuward supports interface versions " +
                                       std::to_string(smi::kOldestGeneration) + " to " +
                                       std::to_string(smi::kNewestGeneration));
}

}  // namespace

AmdSmi::AmdSmi(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

AmdSmi::~AmdSmi() { static_cast<void>(functions_->shut_down()); }

Result<std::unique_ptr<AmdSmi>> AmdSmi::open(const std::string& name) {
  const auto library = load(name);
  if (!library) return std::unexpected(library.error());
  auto functions = std::make_unique<Functions>();
  Functions& f = *functions;
  for (const Status& bound :
       {bind(*library, "amdsmi_get_lib_version", f.get_lib_version),
        bind(*library, "amdsmi_init", f.init), bind(*library, "amdsmi_shut_down", f.shut_down),
        bind(*library, "amdsmi_get_socket_handles", f.get_socket_handles),
        bind(*library, "amdsmi_get_processor_handles", f.get_processor_handles),
        bind(*library, "amdsmi_get_gpu_device_bdf", f.get_device_bdf),
        bind(*library, "amdsmi_get_gpu_device_uuid", f.get_device_uuid),
        bind(*library, "amdsmi_get_gpu_ecc_count", f.get_ecc_count),
        bind(*library, "amdsmi_status_code_to_string", f.status_code_to_string)}) {
    if (!bound) return std::unexpected(bound.error());
  }
  std::string version;
  static_cast<void>(bind(*library, "amdsmi_get_gpu_cper_entries", f.get_cper_entries));
  static_cast<void>(bind(*library, "amdsmi_get_afids_from_cper", f.get_afids));
  if (auto known = check_generation(f.get_lib_version, version); !known) {
    return std::unexpected(known.error());
  }
  if (const smi::Status status = f.init(smi::kInitAmdGpus); status != smi::kSuccess) {
    return fail(ErrorKind::kUnavailable, describe("amdsmi_init", status, f.status_code_to_string));
  }
  std::unique_ptr<AmdSmi> opened(new AmdSmi(std::move(functions)));
  opened->version_ = std::move(version);
  opened->find_gpus();
  return opened;
}

void AmdSmi::find_gpus() {
  const Functions& f = *functions_;
  for (smi::Handle const socket : list_handles(f.get_socket_handles)) {
    const auto processors = list_handles([&](std::uint32_t* count, smi::Handle* out) {
      return f.get_processor_handles(socket, count, out);
    });
    for (smi::Handle const processor : processors) {
      smi::Bdf bdf = 0;
      if (f.get_device_bdf(processor, &bdf) == smi::kSuccess) {
        handles_.emplace(address_of(bdf), processor);
      }
    }
  }
}

std::vector<RasBlock> AmdSmi::error_counts(const PciAddress& gpu) const {
  std::vector<RasBlock> blocks;
  const auto handle = handles_.find(gpu);
  if (handle == handles_.end()) return blocks;
  for (const smi::Block& block : smi::kBlocks) {
    smi::ErrorCount count{};
    if (functions_->get_ecc_count(handle->second, block.bit, &count) != smi::kSuccess) continue;
    blocks.push_back({block.name, believable_count(count.correctable),
                      believable_count(count.uncorrectable), believable_count(count.deferred)});
  }
  return blocks;
}

Maybe<CperRecord> AmdSmi::latest_cper(const PciAddress& gpu) const {
  const auto handle = handles_.find(gpu);
  if (handle == handles_.end() || functions_->get_cper_entries == nullptr) return std::nullopt;
  std::optional<RecordAndBytes> latest;
  const auto data = std::make_unique<char[]>(kMostRecordBytes);
  std::uint64_t cursor = 0;
  for (int call = 0; call < kMostRecordCalls; ++call) {
    std::vector<smi::CperHeader*> headers(kMostRecords);
    std::uint64_t bytes = kMostRecordBytes, count = kMostRecords;
    const std::uint64_t begun_at = cursor;
    const smi::Status status = functions_->get_cper_entries(
        handle->second, smi::kEveryCper, data.get(), &bytes, headers.data(), &count, &cursor);
    const bool has_more = status == smi::kMoreData25 || status == smi::kMoreData26;
    if (status != smi::kSuccess && !has_more) return std::nullopt;
    headers.resize(std::min(count, kMostRecords));
    const std::string_view filled(data.get(), std::min(bytes, kMostRecordBytes));
    for (const smi::CperHeader* const header : headers) take_record(latest, filled, header);
    if (!has_more || cursor <= begun_at) break;
  }
  if (!latest) return std::nullopt;
  if (latest->record.severity == CperSeverity::kFatal)
    latest->record.afids = afids_of(functions_->get_afids, std::move(latest->bytes));
  return std::move(latest->record);
}

std::string AmdSmi::uuid(const PciAddress& gpu) const {
  const auto handle = handles_.find(gpu);
  std::array<char, smi::kUuidBytes + 1> text{};
  std::uint32_t length = smi::kUuidBytes;
  if (handle == handles_.end() ||
      functions_->get_device_uuid(handle->second, &length, text.data()) != smi::kSuccess) {
    return {};
  }
  return to_valid_utf8(text.data(), smi::kUuidBytes);
}

}  // namespace gpuward::exporter::amd
