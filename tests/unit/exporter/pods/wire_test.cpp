#include "exporter/pods/wire.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuward::exporter {
namespace {

using namespace std::string_literals;

// The bytes of the encoding guide's own examples (protobuf.dev/programming-guides/encoding).
TEST(WireReader, ReadsAVarint) {
  const std::string message = "\x08\x96\x01"s;
  WireReader reader(message);

  const auto field = reader.next();

  ASSERT_TRUE(field.has_value());
  EXPECT_EQ(field->number, 1U);
  EXPECT_EQ(field->type, WireType::kVarint);
  EXPECT_EQ(field->value, 150U);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.is_broken());
}

TEST(WireReader, ReadsBytes) {
  const std::string message = "\x12\x07testing"s;
  WireReader reader(message);

  const auto field = reader.next();

  ASSERT_TRUE(field.has_value());
  EXPECT_EQ(field->number, 2U);
  EXPECT_EQ(field->bytes, "testing");
}

TEST(WireReader, PassesOverFixedNumbers) {
  const std::string message =
      "\x09"
      "12345678"
      "\x15"
      "1234"
      "\x18\x05"s;
  WireReader reader(message);

  EXPECT_EQ(reader.next()->type, WireType::kFixed64);
  EXPECT_EQ(reader.next()->type, WireType::kFixed32);
  EXPECT_EQ(reader.next()->value, 5U);
}

TEST(WireReader, ReadsTheLargestNumber) {
  const std::string message = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;
  WireReader reader(message);

  EXPECT_EQ(reader.next()->value, ~std::uint64_t{0});
}

class BrokenWire : public testing::TestWithParam<std::string> {};

TEST_P(BrokenWire, EndsTheReading) {
  WireReader reader(GetParam());

  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.is_broken());
  EXPECT_FALSE(reader.next().has_value()) << "and nothing comes after";
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenWire,
    testing::Values("\x08"s,  // no value
                    "\x80"s,  // half a tag
                    "\x12\x05"
                    "abc"s,                                           // fewer bytes than announced
                    "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // 2^64-1 bytes
                    "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,  // 65 bits
                    "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s,  // eleven bytes
                    "\x00\x01"s,                                          // field number 0
                    "\x0b\x0c"s,                                          // a group
                    "\x0e\x01"s,                                          // wire type 6
                    "\x09"
                    "1234567"s,  // seven of eight bytes
                    "\x15"
                    "123"s,                         // three of four
                    "\x80\x80\x80\x80\x10\x01"s));  // field number 2^29

}  // namespace
}  // namespace gpuward::exporter
