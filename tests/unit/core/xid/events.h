// Events for the cases of the kernel-log reader and the catalogue.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "core/xid/event.h"
#include "core/xid/parser.h"

namespace gpuward::xid {

// Parses a record of the kernel log; fails the test if it has no event.
inline Event parsed(std::string_view record) {
  auto event = parse_record(record);
  EXPECT_TRUE(event) << record;
  return event.value_or(Event{});
}

inline Event xid(std::uint32_t code) {
  Event event;
  event.code = code;
  return event;
}

// A line that a driver writes in words, with the expected kind and label.
struct LineInWords {
  const char* line;
  Kind kind;
  const char* label;
};

}  // namespace gpuward::xid
