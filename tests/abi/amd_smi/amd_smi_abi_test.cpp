// Compares gpuward's declarations of AMD SMI's interface, and those of the fake, with AMD's own
// Python packages: one for each generation that gpuward uses.
#include "exporter/gpu/amd/amd_smi_abi.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>

#include "core/runtime/files.h"
#include "tests/fakes/amd_smi/amd_smi_types.h"
#include "tests/places.inc"

namespace gpuward::abi {
namespace {

namespace smi = exporter::amd::smi;

// "size amdsmi_version_t" -> "24", "member amdsmi_version_t build" -> "16 8", ...
using Facts = std::map<std::string, std::string>;

Facts parse_facts(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name, member, value;
    words >> kind >> name;
    std::string key = kind + " " + name;
    if (kind == "member" || kind == "bits") {
      words >> member;
      key += " " + member;
    }
    std::getline(words >> std::ws, value);
    facts[key] = value;
  }
  return facts;
}

class AmdSmiAbi : public ::testing::TestWithParam<const char*> {
 protected:
  Facts facts_ = parse_facts(
      read_file(std::filesystem::path(GPUWARD_SOURCE_DIR) / "tests/abi/amd_smi" / GetParam())
          .value_or(""));

  void expect_member(const std::string& name, std::size_t offset, std::size_t bytes) {
    EXPECT_EQ(facts_["member " + name], std::to_string(offset) + " " + std::to_string(bytes))
        << name;
  }
};

INSTANTIATE_TEST_SUITE_P(Generations, AmdSmiAbi,
                         ::testing::Values("facts-6.4.4.txt", "facts-7.0.2.txt"),
                         [](const auto& each) {
                           std::string name(each.param);
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

TEST_P(AmdSmiAbi, ErrorCountsHaveTheirPlaces) {
  using Count = smi::ErrorCount;
  EXPECT_EQ(facts_["size amdsmi_error_count_t"], std::to_string(sizeof(Count)));
  EXPECT_EQ(sizeof(FakeErrorCount), sizeof(Count));
  expect_member("amdsmi_error_count_t correctable_count", offsetof(Count, correctable), 8);
  expect_member("amdsmi_error_count_t uncorrectable_count", offsetof(Count, uncorrectable), 8);
  expect_member("amdsmi_error_count_t deferred_count", offsetof(Count, deferred), 8);
  expect_member("amdsmi_error_count_t reserved", offsetof(Count, reserved), 40);
  EXPECT_EQ(offsetof(FakeErrorCount, uncorrected), offsetof(Count, uncorrectable));
}

TEST_P(AmdSmiAbi, ErrorRecordsBeginWithTheirHeader) {
  using Header = smi::CperHeader;
  EXPECT_EQ(facts_["size amdsmi_cper_hdr_t"], std::to_string(sizeof(Header)));
  EXPECT_EQ(sizeof(FakeCperHeader), sizeof(Header));
  expect_member("amdsmi_cper_hdr_t signature", offsetof(Header, signature), 4);
  expect_member("amdsmi_cper_hdr_t revision", offsetof(Header, revision), 2);
  expect_member("amdsmi_cper_hdr_t signature_end", offsetof(Header, signature_end), 4);
  expect_member("amdsmi_cper_hdr_t sec_cnt", offsetof(Header, sections), 2);
  expect_member("amdsmi_cper_hdr_t error_severity", offsetof(Header, severity), 4);
  expect_member("amdsmi_cper_hdr_t cper_valid_bits", offsetof(Header, valid_bits), 4);
  expect_member("amdsmi_cper_hdr_t record_length", offsetof(Header, bytes), 4);
  expect_member("amdsmi_cper_hdr_t timestamp", offsetof(Header, time), 8);
  expect_member("amdsmi_cper_hdr_t platform_id", offsetof(Header, platform_id), 16);
  expect_member("amdsmi_cper_hdr_t partition_id", offsetof(Header, partition_id), 16);
  expect_member("amdsmi_cper_hdr_t creator_id", offsetof(Header, creator_id), 16);
  expect_member("amdsmi_cper_hdr_t notify_type", offsetof(Header, notify_type), 16);
  expect_member("amdsmi_cper_hdr_t record_id", offsetof(Header, record_id), 8);
  expect_member("amdsmi_cper_hdr_t flags", offsetof(Header, flags), 4);
  expect_member("amdsmi_cper_hdr_t persistence_info", offsetof(Header, persistence), 8);
  expect_member("amdsmi_cper_hdr_t reserved", offsetof(Header, reserved), 12);
}

TEST_P(AmdSmiAbi, TimesOfErrorRecordsAreEightBytes) {
  using Time = smi::CperTime;
  EXPECT_EQ(facts_["size amdsmi_cper_timestamp_t"], std::to_string(sizeof(Time)));
  expect_member("amdsmi_cper_timestamp_t seconds", offsetof(Time, seconds), 1);
  expect_member("amdsmi_cper_timestamp_t minutes", offsetof(Time, minutes), 1);
  expect_member("amdsmi_cper_timestamp_t hours", offsetof(Time, hours), 1);
  expect_member("amdsmi_cper_timestamp_t day", offsetof(Time, day), 1);
  expect_member("amdsmi_cper_timestamp_t month", offsetof(Time, month), 1);
  expect_member("amdsmi_cper_timestamp_t year", offsetof(Time, year), 1);
  expect_member("amdsmi_cper_timestamp_t century", offsetof(Time, century), 1);
}

TEST_P(AmdSmiAbi, ErrorRecordsHaveTheSeveritiesOfAmd) {
  EXPECT_EQ(facts_["constant AMDSMI_CPER_SEV_NON_FATAL_UNCORRECTED"],
            std::to_string(smi::kCperUncorrected));
  EXPECT_EQ(facts_["constant AMDSMI_CPER_SEV_FATAL"], std::to_string(smi::kCperFatal));
  EXPECT_EQ(facts_["constant AMDSMI_CPER_SEV_NON_FATAL_CORRECTED"],
            std::to_string(smi::kCperCorrected));
  EXPECT_EQ(facts_["constant AMDSMI_CPER_SEV_NUM"], "3") << "the mask has each of them";
}

TEST_P(AmdSmiAbi, EveryNotifyTypeIsKnownByItsNumber) {
  const std::string prefix = "constant AMDSMI_CPER_NOTIFY_TYPE_";
  std::size_t types = 0;
  for (const smi::NotifyType& type : smi::kNotifyTypes) {
    EXPECT_EQ(facts_[prefix + type.name], std::to_string(type.number)) << type.name;
    ++types;
  }
  for (const auto& [key, value] : facts_) types -= key.starts_with(prefix) ? 1U : 0U;
  EXPECT_EQ(types, 0U);
}

TEST_P(AmdSmiAbi, VersionBeginsWithTheGeneration) {
  const bool has_year = facts_.contains("member amdsmi_version_t year");
  EXPECT_EQ(has_year, std::string(GetParam()) == "facts-6.4.4.txt");
  EXPECT_EQ(facts_["size amdsmi_version_t"], std::to_string(sizeof(smi::Version)));
  EXPECT_EQ(sizeof(FakeVersion), sizeof(smi::Version));
  expect_member(has_year ? "amdsmi_version_t year" : "amdsmi_version_t major",
                offsetof(smi::Version, generation), 4);
  expect_member("amdsmi_version_t build", offsetof(smi::Version, build), 8);
}

TEST_P(AmdSmiAbi, AddressIsPackedIntoOneWord) {
  EXPECT_EQ(facts_["size amdsmi_bdf_t"], std::to_string(sizeof(smi::Bdf)));
  EXPECT_EQ(facts_["bits amdsmi_bdf_t function_number"], "0 3");
  EXPECT_EQ(facts_["bits amdsmi_bdf_t device_number"], "3 5");
  EXPECT_EQ(facts_["bits amdsmi_bdf_t bus_number"], "8 8");
  EXPECT_EQ(facts_["bits amdsmi_bdf_t domain_number"], "16 48");
}

TEST_P(AmdSmiAbi, NumbersAreThoseOfAmd) {
  EXPECT_EQ(facts_["constant AMDSMI_STATUS_SUCCESS"], std::to_string(smi::kSuccess));
  EXPECT_EQ(facts_["constant AMDSMI_STATUS_NOT_SUPPORTED"], std::to_string(smi::kNotSupported));
  EXPECT_EQ(facts_["constant AMDSMI_STATUS_DRIVER_NOT_LOADED"],
            std::to_string(smi::kDriverNotLoaded));
  const bool is_25 = std::string(GetParam()) == "facts-6.4.4.txt";
  EXPECT_EQ(facts_["constant AMDSMI_STATUS_MORE_DATA"],
            std::to_string(is_25 ? smi::kMoreData25 : smi::kMoreData26));
  EXPECT_EQ(facts_["constant AMDSMI_INIT_AMD_GPUS"], std::to_string(smi::kInitAmdGpus));
}

TEST_P(AmdSmiAbi, EveryBlockIsKnownByItsBit) {
  std::size_t blocks = 0;
  for (const smi::Block& block : smi::kBlocks) {
    std::string name = block.name;
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(facts_["constant AMDSMI_GPU_BLOCK_" + name], std::to_string(block.bit)) << name;
    ++blocks;
  }
  EXPECT_EQ(facts_["constant AMDSMI_GPU_BLOCK_LAST"], std::to_string(smi::kBlocks[blocks - 1].bit));
}

// The sizes of a function's arguments, as the facts have them.
template <typename... Arguments>
std::string sizes_of(smi::Status (* /*function*/)(Arguments...)) {
  std::string sizes;
  ((sizes += (sizes.empty() ? "" : " ") + std::to_string(sizeof(Arguments))), ...);
  return sizes;
}

TEST_P(AmdSmiAbi, FunctionsTakeWhatWeGiveThem) {
  EXPECT_EQ(facts_["function amdsmi_get_lib_version"], sizes_of(smi::GetLibVersion()));
  EXPECT_EQ(facts_["function amdsmi_init"], sizes_of(smi::Init()));
  EXPECT_EQ(facts_["function amdsmi_shut_down"], sizes_of(smi::ShutDown()));
  EXPECT_EQ(facts_["function amdsmi_get_socket_handles"], sizes_of(smi::GetSocketHandles()));
  EXPECT_EQ(facts_["function amdsmi_get_processor_handles"], sizes_of(smi::GetProcessorHandles()));
  EXPECT_EQ(facts_["function amdsmi_get_gpu_device_bdf"], sizes_of(smi::GetDeviceBdf()));
  EXPECT_EQ(facts_["function amdsmi_get_gpu_device_uuid"], sizes_of(smi::GetDeviceUuid()));
  EXPECT_EQ(facts_["function amdsmi_get_gpu_ecc_count"], sizes_of(smi::GetEccCount()));
  EXPECT_EQ(facts_["function amdsmi_get_gpu_cper_entries"], sizes_of(smi::GetCperEntries()));
  EXPECT_EQ(facts_["function amdsmi_get_afids_from_cper"], sizes_of(smi::GetAfids()));
  EXPECT_EQ(facts_["function amdsmi_status_code_to_string"], sizes_of(smi::StatusCodeToString()));
}

TEST_P(AmdSmiAbi, FakeHasEveryFunctionThatWeAsk) {
  const auto library =
      std::filesystem::path(GPUWARD_BIN_DIR).parent_path() / "lib/fakes/libamd_smi.so.26";
  void* const fake = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(fake, nullptr) << ::dlerror();
  std::size_t functions = 0;
  for (const auto& [key, value] : facts_) {
    if (!key.starts_with("function ")) continue;
    EXPECT_NE(::dlsym(fake, key.substr(9).c_str()), nullptr) << key;
    ++functions;
  }
  EXPECT_EQ(functions, 11U);
  ::dlclose(fake);
}

}  // namespace
}  // namespace gpuward::abi
