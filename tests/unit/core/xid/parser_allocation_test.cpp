// The kernel log of a busy node has thousands of lines that are not about GPUs: none of them may
// cost an allocation.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

#include "core/xid/joiner.h"
#include "core/xid/parser.h"

namespace {

thread_local std::size_t allocations = 0;

void* counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace gpuward::xid {
namespace {

constexpr std::string_view kOthers[] = {
    "6,1234,98765,-;usb 1-1: new high-speed USB device number 4 using xhci_hcd\n SUBSYSTEM=usb\n",
    "[   12.345678] audit: type=1400 audit(1700000000.000:2): apparmor=\"STATUS\" "
    "operation=\"profile_load\"",
    "Nov 18 17:26:39 gpu-node systemd[1]: Started Session 1 of User root with a very long "
    "description of it.",
    "[   39.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build",
    "[1084456.074591] NVRM: A GPU crash dump has been created. If possible, please run",
    "nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Severity 0 Engine instance 44 Sub-engine "
    "instance 00",
    "pcieport 0000:00:03.1:    [ 6] BadTLP                ",
    "amdgpu 0000:03:00.0: amdgpu: RAS: optional ras ta ucode is not available",
    "Nov 18 17:26:39 host sshd[1]: NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus.",
};

TEST(ParseRecord, AllocatesNothingForALineThatIsNotOurs) {
  for (const auto line : kOthers) {
    const auto before = allocations;
    const auto event = parse_record(line);
    EXPECT_EQ(allocations, before) << line;
    EXPECT_FALSE(event) << line;
  }
}

TEST(RecordJoiner, AllocatesNothingForALineThatIsNotOurs) {
  RecordJoiner joiner;
  for (const auto line : kOthers) {
    const auto before = allocations;
    const auto record = joiner.push(line);
    EXPECT_EQ(allocations, before) << line;
    EXPECT_EQ(record.text.data(), line.data());
  }
}

TEST(CountingNew, Counts) {
  const auto before = allocations;
  const auto event =
      parse_record("NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=a process with a long name, x");
  ASSERT_TRUE(event);
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace gpuward::xid
