#include "tests/e2e/kernel_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace gpuward::e2e {
namespace {

// Expects a FIFO from which the written line can be read.
void expect_fifo(const Result<KernelLog>& log, const std::filesystem::path& path) {
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_FALSE(log->is_device());
  ASSERT_EQ(log->path(), path);
  ASSERT_TRUE(std::filesystem::is_fifo(path));
  std::ifstream reader(path);
  ASSERT_TRUE(log->write("NVRM: Xid"));
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "NVRM: Xid");
}

TEST(KernelLog, IsAFifoIfThereIsNoDevice) {
  const support::TempDir folder;

  expect_fifo(KernelLog::device_or_fifo(folder / "fifo", folder / "no-such-device"),
              folder / "fifo");
}

// The device of this test is a folder: every user can open it for reading, and no user for writing,
// not even root, who passes all file modes.
TEST(KernelLog, IsAFifoIfTheDeviceIsThereButCannotBeWritten) {
  const support::TempDir folder;
  std::filesystem::create_directory(folder / "device");

  expect_fifo(KernelLog::device_or_fifo(folder / "fifo", folder / "device"), folder / "fifo");
}

// Two runs at once would each read and count the other's faults.
TEST(KernelLog, IsAFifoWhileAnotherRunWritesTheDevice) {
  const support::TempDir folder;
  const auto device = folder / "device";
  std::ofstream(device).flush();
  {
    const auto first = KernelLog::device_or_fifo(folder / "unused", device);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(first->is_device());

    expect_fifo(KernelLog::device_or_fifo(folder / "fifo", device), folder / "fifo");
  }

  const auto later = KernelLog::device_or_fifo(folder / "unused", device);
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_TRUE(later->is_device());
}

}  // namespace
}  // namespace gpuward::e2e
