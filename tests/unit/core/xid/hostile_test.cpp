#include <gtest/gtest.h>

#include <string>

#include "core/xid/parser.h"
#include "tests/unit/core/xid/corpus.h"

namespace gpuward::xid {
namespace {

TEST(HostileRecord, MayBeCutAnywhere) {
  for (const auto& line : test::load_corpus()) {
    for (std::size_t size = 0; size <= line.text.size(); ++size) {
      const std::string exact(line.text.data(),
                              size);  // in its own heap block: sanitizers see its end
      const auto event = parse_record(exact);
      if (event && event->kind == Kind::kXid) {
        EXPECT_LE(event->code, 99999U);
      }
    }
  }
}

TEST(HostileRecord, MayHoldAnyBytes) {
  std::string bytes = "NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=";
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  const auto event = parse_record(bytes);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->code, 13U);
}

TEST(HostileRecord, MayBeLong) {
  const std::string name(1U << 20U, 'x');
  EXPECT_FALSE(parse_record("NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=" + name));
  EXPECT_FALSE(parse_record("NVRM: Xid (" + name));
  EXPECT_FALSE(parse_record(name));
}

TEST(HostileRecord, MayHoldNumbersThatDoNotFit) {
  const auto event = parse_record(
      "NVRM: Xid (PCI:0000:4e:00): 74, pid=99999999999999999999, on link 99999999999(0xfffffffff, "
      "0x1)");
  ASSERT_TRUE(event);
  EXPECT_FALSE(event->pid);
  EXPECT_FALSE(event->link);
  EXPECT_FALSE(parse_record("nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 99999999999, Fatal, x"));
}

}  // namespace
}  // namespace gpuward::xid
