// Compares gpuward's declarations of NVML's interface, and those of the fake, with NVIDIA's own
// Python package.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/files.h"
#include "tests/abi/nvml/facts.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/places.inc"

namespace gpuward::abi {
namespace {

using ::testing::ElementsAre;

Facts committed_facts() {
  const auto text = read_file(GPUWARD_SOURCE_DIR "/tests/abi/nvml/nvml_facts.txt");
  return parse_facts(text.value_or(""));
}

// The numbers that exporter/gpu/report/reading.h, the rules of exporter/checks and the metrics take
// from a reading without declaring them.
const Constants& meanings() {
  static const Constants kMeanings{
      {"NVML_GPU_RECOVERY_ACTION_NONE", 0},
      {"NVML_GPU_RECOVERY_ACTION_GPU_RESET", 1},
      {"NVML_GPU_RECOVERY_ACTION_NODE_REBOOT", 2},
      {"NVML_GPU_RECOVERY_ACTION_DRAIN_P2P", 3},
      {"NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET", 4},
      {"NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN", 5},
      {"nvmlClocksEventReasonSwThermalSlowdown", 0x20},
      {"nvmlClocksThrottleReasonHwSlowdown", 0x8},
      {"nvmlClocksThrottleReasonHwThermalSlowdown", 0x40},
      {"nvmlClocksThrottleReasonHwPowerBrakeSlowdown", 0x80},
      {"NVML_TOPOLOGY_INTERNAL", 0},
      {"NVML_TOPOLOGY_SINGLE", 10},
      {"NVML_TOPOLOGY_MULTIPLE", 20},
      {"NVML_TOPOLOGY_HOSTBRIDGE", 30},
      {"NVML_TOPOLOGY_NODE", 40},
      {"NVML_TOPOLOGY_SYSTEM", 50},
      {"NVML_P2P_STATUS_OK", 0},
      {"NVML_GPU_FABRIC_STATE_NOT_STARTED", 1},
      {"NVML_GPU_FABRIC_STATE_IN_PROGRESS", 2},
      {"NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW", 0},
      {"NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE", 1},
      {"NVML_DEVICE_ARCH_AMPERE", 7},
      {"NVML_DEVICE_ARCH_HOPPER", 9},
  };
  return kMeanings;
}

// The only difference between the package and NVIDIA's header: the package declares
// nvmlGpuFabricState_t as unsigned int, nvml.h (github.com/NVIDIA/go-nvml at 2f9e261) as unsigned
// char. The three bytes after it are padding either way.
std::size_t bytes_in_header(const std::string& structure, std::size_t member, std::size_t bytes) {
  const bool is_state = (structure == "nvmlGpuFabricInfo_t" && member == 3) ||
                        (structure == "nvmlGpuFabricInfo_v2_t" && member == 4) ||
                        (structure == "nvmlGpuFabricInfo_v3_t" && member == 4);
  return is_state ? 1 : bytes;
}

void expect_structures(const Structures& declared, const Structures& facts) {
  for (const auto& [name, structure] : declared) {
    const auto fact = facts.find(name);
    ASSERT_NE(fact, facts.end()) << name;
    EXPECT_EQ(structure.bytes, fact->second.bytes) << name;
    ASSERT_EQ(structure.members.size(), fact->second.members.size()) << name;
    for (std::size_t i = 0; i < structure.members.size(); ++i) {
      EXPECT_EQ(structure.members[i].offset, fact->second.members[i].offset) << name << " " << i;
      EXPECT_EQ(structure.members[i].bytes, bytes_in_header(name, i, fact->second.members[i].bytes))
          << name << " " << i;
    }
  }
}

void expect_constants(const Constants& declared, const Constants& facts) {
  for (const auto& [name, value] : declared) {
    const auto fact = facts.find(name);
    ASSERT_NE(fact, facts.end()) << name;
    EXPECT_EQ(value, fact->second) << name;
  }
}

TEST(NvmlAbi, FactsAreThere) {
  const Facts facts = committed_facts();

  EXPECT_EQ(facts.package_version, "13.615.71");
  EXPECT_GT(facts.functions.size(), 300U);
}

TEST(NvmlAbi, OurStructuresAreThoseOfNvidia) {
  expect_structures(our_structures(), committed_facts().structures);
}

TEST(NvmlAbi, OurConstantsAreThoseOfNvidia) {
  expect_constants(our_constants(), committed_facts().constants);
  expect_constants(meanings(), committed_facts().constants);
}

TEST(NvmlAbi, NoFactIsLeftUncompared) {
  const Facts facts = committed_facts();

  for (const auto& [name, structure] : facts.structures) {
    EXPECT_TRUE(our_structures().contains(name)) << name;
    EXPECT_TRUE(fake_structures().contains(name)) << name;
  }
  for (const auto& [name, value] : facts.constants) {
    EXPECT_TRUE(our_constants().contains(name) || meanings().contains(name)) << name;
  }
}

TEST(NvmlAbi, OurFunctionsAreThoseOfNvidia) {
  const Facts facts = committed_facts();
  std::vector<std::string> not_in_the_package;
  for (const std::string& name : our_functions()) {
    if (!facts.functions.contains(name)) not_in_the_package.push_back(name);
  }

  // The package uses nvmlInitWithFlags, and only the newest name of the process list. The two
  // others are in nvml.h of github.com/NVIDIA/go-nvml at 2f9e261 (gen/nvml/nvml.h, API 13).
  EXPECT_THAT(not_in_the_package,
              ElementsAre("nvmlDeviceGetComputeRunningProcesses", "nvmlInit_v2"));
}

TEST(NvmlAbi, FakeHasTheSameStructuresAndNumbers) {
  expect_structures(fake_structures(), committed_facts().structures);
  expect_constants(fake_constants(), committed_facts().constants);
}

TEST(NvmlAbi, FakeHasEveryFunctionThatWeAsk) {
  void* const library = ::dlopen(fake_nvml::FakeNvml::library().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();

  for (const std::string& name : our_functions()) {
    EXPECT_NE(::dlsym(library, name.c_str()), nullptr) << name;
  }
  ::dlclose(library);
}

}  // namespace
}  // namespace gpuward::abi
