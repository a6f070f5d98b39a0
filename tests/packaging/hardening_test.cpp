// core/hardening.cmake, as binutils reads it in the shipped programs and in the civetweb that they
// contain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"

namespace gpuward::packaging {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string readelf(const std::string& what, const fs::path& file) {
  const auto outcome = support::Process::run(
      {.argv = {"readelf", "--wide", what, file.string()}, .max_output_bytes = 64U << 20U});
  if (!outcome || outcome->exit_code != 0) {
    ADD_FAILURE() << "readelf " << what << " " << file << ": "
                  << (outcome ? outcome->error_output : outcome.error().message);
    return {};
  }
  return outcome->output;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// The mark of an object whose indirect branches all end at an instruction made for that.
#if defined(__x86_64__)
constexpr const char* kBranchMark = "x86 feature: IBT, SHSTK";
#else
constexpr const char* kBranchMark = "AArch64 feature: BTI, PAC";
#endif

class Hardening : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    program_ = fs::path(GPUWARD_BIN_DIR) / GetParam();
    GPUWARD_REQUIRE(support::why_no_program("readelf"));
  }
  fs::path program_;
};

TEST_P(Hardening, AProgramLoadsAnywhereAndItsTablesAreReadOnlyOnceItRuns) {
  EXPECT_THAT(readelf("--file-header", program_), ContainsRegex("Type: +DYN"));
  EXPECT_THAT(readelf("--dynamic", program_), ContainsRegex("FLAGS_1.*NOW.*PIE"));
  EXPECT_THAT(
      readelf("--segments", program_),
      AllOf(HasSubstr("GNU_RELRO"), ContainsRegex("GNU_STACK .* RW +0x"), Not(HasSubstr("RWE"))));
}

TEST_P(Hardening, AProgramChecksItsStackItsBuffersAndItsContainers) {
  const std::string symbols = readelf("--dyn-syms", program_);
  EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail@"));
  EXPECT_THAT(symbols, ContainsRegex("__[a-z]+_chk@GLIBC"));
  EXPECT_THAT(symbols, HasSubstr("__glibcxx_assert_fail"));
}

INSTANTIATE_TEST_SUITE_P(Each, Hardening, ::testing::Values(GPUWARD_PROGRAMS),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

// The linker marks a program only if the C library's own start files are marked too, and Debian
// 12's crt1.o is not. So the test reads the mark in all objects of the programs.
TEST(Hardening, EachObjectOfOursAndOfCivetwebIsMadeForBranchProtection) {
  GPUWARD_REQUIRE(support::why_no_program("readelf"));
  std::vector<fs::path> archives{GPUWARD_CIVETWEB_LIBRARY};
  const fs::path build = fs::path(GPUWARD_BIN_DIR).parent_path();
  for (const char* folder : {"core", "exporter", "remediator"}) {
    for (const auto& entry : fs::recursive_directory_iterator(build / folder)) {
      if (entry.path().extension() == ".a") archives.push_back(entry.path());
    }
  }
  ASSERT_GT(archives.size(), 10U);
  for (const fs::path& archive : archives) {
    const std::size_t objects = count(readelf("--file-header", archive), "\nFile: ");
    EXPECT_GT(objects, 0U) << archive;
    EXPECT_EQ(count(readelf("--notes", archive), kBranchMark), objects) << archive;
  }
}

TEST(Hardening, CivetwebChecksItsStackAndItsBuffers) {
  GPUWARD_REQUIRE(support::why_no_program("readelf"));
  EXPECT_THAT(readelf("--symbols", GPUWARD_CIVETWEB_LIBRARY),
              AllOf(HasSubstr("UND __stack_chk_fail"), ContainsRegex("UND __[a-z]+_chk")));
}

}  // namespace
}  // namespace gpuward::packaging
