// amdsmi_get_gpu_cper_entries and amdsmi_get_afids_from_cper of the fake libamd_smi, in their own
// file, so that a library without them can be built.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/amd_smi/amd_calls.h"
#include "tests/fakes/amd_smi/amd_smi_types.h"

namespace gpuward::fake_amd {
namespace {

// The section after a header; no test reads it.
constexpr std::size_t kBodyBytes = 200;
// The GUIDs as UEFI prints them, in the order of their bytes.
constexpr unsigned char kMce[] = {0xFE, 0x6F, 0xF5, 0xE8, 0x9C, 0x91, 0xC5, 0x4C,
                                  0xBA, 0x88, 0x65, 0xAB, 0xE1, 0x49, 0x13, 0xBB};
constexpr unsigned char kCmc[] = {0xB1, 0x8B, 0xCE, 0x2D, 0xD7, 0xBD, 0x0E, 0x45,
                                  0xB9, 0xAD, 0x9C, 0xF4, 0xEB, 0xD4, 0xF8, 0x90};

unsigned severity_of(const std::string& word) {
  if (word == "uncorrected") return 0;
  if (word == "fatal") return 1;
  return word == "corrected" ? 2 : 99;
}

// `2026-11-20T10:00:00`; any other text means no time.
void put_time(const std::string& word, FakeCperHeader& header) {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(word.c_str(), "%u-%u-%uT%u:%u:%u", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return;
  }
  header.second = static_cast<unsigned char>(second);
  header.minute = static_cast<unsigned char>(minute);
  header.hour = static_cast<unsigned char>(hour);
  header.day = static_cast<unsigned char>(day);
  header.month = static_cast<unsigned char>(month);
  header.year = static_cast<unsigned char>(year % 100);
  header.century = static_cast<unsigned char>(year / 100 + 1);
}

// `fatal 2026-11-20T10:00:00 0:1`, and the length if the record claims a wrong one.
FakeCperHeader header_of(const std::string& text) {
  std::istringstream words(text);
  std::string severity, time, id, length;
  words >> severity >> time >> id >> length;
  FakeCperHeader header{};
  std::memcpy(header.cper, "CPER", 4);
  header.all_ones = 0xFFFFFFFF;
  header.section_count = 1;
  header.sev = severity_of(severity);
  header.valid = 7;
  header.length = length.empty() ? static_cast<unsigned>(sizeof header + kBodyBytes)
                                 : static_cast<unsigned>(std::stoul(length));
  put_time(time, header);
  std::memcpy(header.notify, header.sev == 2 ? kCmc : kMce, sizeof kMce);
  std::memcpy(header.id, id.data(), std::min(id.size(), sizeof header.id));
  return header;
}

std::vector<FakeCperHeader> records_of(const AmdScenario& now, std::size_t gpu) {
  std::vector<FakeCperHeader> records;
  const std::string* const text = now.of_gpu("smi", gpu, "cper");
  std::istringstream lines(text == nullptr ? "" : *text);
  for (std::string line; std::getline(lines, line, ';');) records.push_back(header_of(line));
  return records;
}

// The status number for more data, which differs between the generations.
unsigned more_data(const AmdScenario& now) {
  const std::string* const version = now.find("smi.version");
  return version != nullptr && version->starts_with("25") ? 57 : 39;
}

std::uint64_t number_at(const AmdScenario& now, const std::string& key, std::uint64_t otherwise) {
  const std::string* const text = now.find(key);
  return text == nullptr ? otherwise : std::stoull(*text);
}

}  // namespace

FAKE_AMD_API unsigned amdsmi_get_gpu_cper_entries(void* processor, unsigned mask, char* data,
                                                  std::uint64_t* size, FakeCperHeader** headers,
                                                  std::uint64_t* count, std::uint64_t* cursor) {
  if (const unsigned error = enter("amdsmi_get_gpu_cper_entries")) return error;
  const AmdScenario now = scenario();
  const auto records = records_of(now, gpu_of(processor));
  const std::uint64_t room = std::min(*count, number_at(now, "smi.cper.at_once", *count));
  std::uint64_t used = 0, given = 0, place = 0;
  unsigned status = kOk;
  for (const FakeCperHeader& record : records) {
    if (record.sev < 32 && (mask >> record.sev & 1U) == 0) continue;
    if (place++ < *cursor) continue;
    if (given == room || *size - used < sizeof record + kBodyBytes) {
      status = given == 0 ? kOutOfResources : more_data(now);
      break;
    }
    headers[given++] = reinterpret_cast<FakeCperHeader*>(data + used);
    std::memcpy(data + used, &record, sizeof record);
    std::memset(data + used + sizeof record, 0, kBodyBytes);
    used += sizeof record + kBodyBytes;
  }
  if (now.find("smi.cper.stuck") == nullptr) *cursor += given;
  *size = number_at(now, "smi.cper.bytes", used);
  *count = number_at(now, "smi.cper.count", given);
  return status;
}

// Returns the scenario's errors for any whole record.
FAKE_AMD_API unsigned amdsmi_get_afids_from_cper(char* record, unsigned size, std::uint64_t* afids,
                                                 unsigned* count) {
  if (const unsigned error = enter("amdsmi_get_afids_from_cper")) return error;
  if (std::memcmp(record, "CPER", 4) != 0 || size != sizeof(FakeCperHeader) + kBodyBytes)
    return kInvalid;
  const AmdScenario now = scenario();
  const std::string* const text = now.find("smi.cper.afids");
  std::istringstream words(text == nullptr ? "" : *text);
  unsigned found = 0;
  for (std::uint64_t afid = 0; words >> afid; ++found)
    if (found < *count) afids[found] = afid;
  *count = found;
  return kOk;
}

}  // namespace gpuward::fake_amd
