// Runs NVIDIA's Python package itself, from the package index: it must agree with the committed
// facts, and must read the fake. Only with `./dev test --all`: needs python3 with pip, and a
// package index or a filled cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/runtime/files.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"

namespace gpuward::abi {
namespace {

using ::testing::HasSubstr;

support::Process::Outcome run_script(const std::string& name) {
  support::ProcessOptions options;
  options.argv = {"python3", "-B", std::string(GPUWARD_SOURCE_DIR) + "/tests/abi/nvml/" + name};
  const std::string library = fake_nvml::FakeNvml::library();
  options.env["LD_LIBRARY_PATH"] = library.substr(0, library.rfind('/'));
  const auto outcome = support::Process::run(std::move(options));
  if (!outcome) return {-1, "", outcome.error().message};
  return *outcome;
}

class NvmlPackage : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kAll, support::why_no_program("python3"));  // it uses the package index
  }
};

TEST_F(NvmlPackage, SaysWhatIsCommitted) {
  const auto outcome = run_script("nvml_facts.py");

  ASSERT_EQ(outcome.exit_code, 0) << outcome.error_output;
  EXPECT_EQ(outcome.output,
            read_file(GPUWARD_SOURCE_DIR "/tests/abi/nvml/nvml_facts.txt").value_or(""))
      << "python3 tests/abi/nvml/nvml_facts.py > tests/abi/nvml/nvml_facts.txt";
}

TEST_F(NvmlPackage, ReadsTheFakeAsItWouldReadADriver) {
  fake_nvml::FakeNvml fake("nvlink_down");
  fake.set("gpu.3.ecc.uncorrected.volatile.dram", "2");
  fake.set("gpu.3.rows.pending", "1");
  fake.set("gpu.3.rows.banks.high", "4");
  fake.set("gpu.3.sram.threshold_exceeded", "1");
  fake.set("gpu.3.field.230", "2");
  fake.set("gpu.3.processes", "101:1000 102:2000");

  const auto outcome = run_script("read_with_package.py");

  ASSERT_EQ(outcome.exit_code, 0) << outcome.error_output;
  const std::vector<std::string> expected{"driver 550.54.15",
                                          "gpu.3.uuid GPU-00000003-aaaa-bbbb-cccc-000000000003",
                                          "gpu.3.pci 00000000:4E:00.0",
                                          "gpu.3.temperature 34",
                                          "gpu.3.dram_uncorrected_volatile 2",
                                          "gpu.3.remapped_rows (0, 0, 1, 0)",
                                          "gpu.3.banks_high 4",
                                          "gpu.3.memory_reserved 571605504",
                                          "gpu.3.sram_threshold 1",
                                          "gpu.3.fabric 3 2 1",
                                          "gpu.3.links 17",
                                          "gpu.3.link_crc_flit 4000",
                                          "gpu.3.link_remote 00000000:07:00.0",
                                          "gpu.3.recovery_action 2",
                                          "gpu.3.memory_temperature 41",
                                          "gpu.3.processes [(101, 1000), (102, 2000)]",
                                          "gpu.7.processes []"};
  for (const std::string& line : expected) EXPECT_THAT(outcome.output, HasSubstr(line + "\n"));
}

}  // namespace
}  // namespace gpuward::abi
