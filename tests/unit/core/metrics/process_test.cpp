#include "core/metrics/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "tests/support/temp_dir.h"

namespace gpuward::metrics {
namespace {

std::map<std::string, double> values(const Families& families) {
  std::map<std::string, double> by_name;
  for (const Family& family : families) by_name[family.name] = family.samples.front().value;
  return by_name;
}

TEST(ProcessFamilies, HaveTheNamesThatAllClientLibrariesUse) {
  Families families;
  append_process(families);

  const auto found = values(families);
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                           "process_virtual_memory_bytes", "process_open_fds", "process_max_fds",
                           "process_start_time_seconds", "process_threads"}) {
    EXPECT_TRUE(found.contains(name)) << name;
  }
}

TEST(ProcessFamilies, AreTrueOfThisProcess) {
  Families families;
  append_process(families);

  auto found = values(families);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_GE(found["process_threads"], 1);
  EXPECT_GT(found["process_resident_memory_bytes"], 1e6);
  EXPECT_GE(found["process_virtual_memory_bytes"], found["process_resident_memory_bytes"]);
  EXPECT_NEAR(found["process_start_time_seconds"], now, 600);
  EXPECT_GE(found["process_open_fds"], 3);
}

TEST(ProcessFamilies, ReadACommandWithBlanksAndBrackets) {
  const support::TempDir proc;
  std::filesystem::create_directory(proc / "self");
  proc.write("self/stat",
             "42 (a ) b) S 1 1 1 0 -1 0 0 0 0 0 100 50 0 0 20 0 7 0 200 5000000 300 "
             "18446744073709551615\n");
  proc.write("stat", "cpu 1 2\nbtime 1000\n");

  Families families;
  append_process(families, proc.path());

  auto found = values(families);
  EXPECT_EQ(found["process_threads"], 7);
  EXPECT_EQ(found["process_cpu_seconds_total"], 1.5);
  EXPECT_EQ(found["process_start_time_seconds"], 1002);
}

TEST(ProcessFamilies, AreLeftOutIfTheyCannotBeRead) {
  const support::TempDir empty;

  Families families;
  append_process(families, empty.path());

  EXPECT_FALSE(values(families).contains("process_resident_memory_bytes"));
}

TEST(BuildInfo, NamesVersionAndCompiler) {
  Families families;
  append_build_info(families);

  const Family& family = families.front();
  ASSERT_EQ(family.samples.size(), 1U);
  EXPECT_EQ(family.declared.labels[0], "version");
  EXPECT_EQ(family.samples[0].labels[0], GPUWARD_VERSION);
  EXPECT_EQ(family.declared.labels[1], "compiler");
}

}  // namespace
}  // namespace gpuward::metrics
