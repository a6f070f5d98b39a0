#include "core/xid/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace gpuward::xid {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// For example RESET_GPU.
bool is_word(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

// Returns whether no two of `rows` have the same key.
template <typename T>
bool differ_by(std::span<const T> rows, auto key) {
  std::set<decltype(key(rows.front()))> keys;
  return std::ranges::all_of(rows, [&](const T& row) { return keys.insert(key(row)).second; });
}

void expect_row_is_whole(const Row& row) {
  SCOPED_TRACE(row.code);
  EXPECT_NE(row.code, 0U);
  EXPECT_TRUE(is_word(row.mnemonic));
  EXPECT_FALSE(is_blank(row.description));
  EXPECT_TRUE(is_word(row.action));
  EXPECT_FALSE(is_blank(row.why));
  EXPECT_FALSE(is_blank(row.cleared_why));
}

// The action of a severity must be able to clear the finding that requires it.
void expect_clearing_fits(const Row& row) {
  SCOPED_TRACE(row.code);
  if (row.default_severity == Severity::kReset) {
    EXPECT_EQ(row.cleared_by, ClearedBy::kGpuReset);
  }
  if (row.default_severity == Severity::kReboot) {
    EXPECT_EQ(row.cleared_by, ClearedBy::kReboot);
  }
  if (row.default_severity == Severity::kIsolate) {
    EXPECT_EQ(row.cleared_by, ClearedBy::kOperator);
  }
  if (row.clears) {
    EXPECT_EQ(row.default_severity, Severity::kNone);
  }
}

TEST(XidRows, AreAllThereAndWhole) {
  EXPECT_EQ(xid_rows().size(), 177U);
  for (const auto& row : xid_rows()) expect_row_is_whole(row);
}

TEST(SxidRows, AreAllThereAndWhole) {
  EXPECT_EQ(sxid_rows().size(), 400U);
  for (const auto& row : sxid_rows()) {
    expect_row_is_whole(row);
    EXPECT_NE(row.fatality, Fatality::kUnknown) << row.code;
  }
}

TEST(Rows, ClearByWhatTheirSeverityDoes) {
  for (const auto& row : xid_rows()) expect_clearing_fits(row);
  for (const auto& row : sxid_rows()) expect_clearing_fits(row);
}

TEST(Rows, AscendWithoutDoubles) {
  const auto ascends = [](std::span<const Row> rows) {
    return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &Row::code) == rows.end();
  };
  EXPECT_TRUE(ascends(xid_rows()));
  EXPECT_TRUE(ascends(sxid_rows()));
}

TEST(Rows, OfProgramsNeverActOnANode) {
  for (const auto& row : xid_rows()) {
    if (row.application_error) {
      EXPECT_LE(row.default_severity, Severity::kMonitor) << row.code;
    }
  }
}

TEST(Nvlink5Rules, AreWholeAndEachIsThereOnce) {
  EXPECT_EQ(nvlink5_rules().size(), 99U);
  for (const auto& rule : nvlink5_rules())
    EXPECT_TRUE(!is_blank(rule.unit) && is_word(rule.action)) << rule.code;
  EXPECT_TRUE(differ_by(nvlink5_rules(), [](const Nvlink5Rule& rule) {
    return std::tuple(rule.code, rule.unit, rule.promoted, rule.before_575.mask,
                      rule.before_575.value, rule.from_575.mask, rule.from_575.value, rule.match,
                      rule.status);
  }));
}

TEST(OtherRules, AreWholeAndEachIsThereOnce) {
  EXPECT_TRUE(differ_by(other_rules(),
                        [](const OtherRule& rule) { return std::pair(rule.kind, rule.label); }));
  for (const auto& rule : other_rules()) {
    SCOPED_TRACE(rule.label);
    EXPECT_FALSE(is_blank(rule.label) || is_blank(rule.action) || is_blank(rule.why) ||
                 is_blank(rule.cleared_why));
  }
}

TEST(RecoveryActions, AreWholeAndNumberedFromNoneOn) {
  std::uint32_t next = 0;
  for (const auto& action : recovery_actions()) {
    EXPECT_EQ(action.value, next++);
    EXPECT_FALSE(is_blank(action.text) || is_blank(action.action) || is_blank(action.why) ||
                 is_blank(action.cleared_why));
  }
  EXPECT_EQ(next, 6U);
}

TEST(Xid74Bits, LieWithinSevenRegistersOf32Bits) {
  EXPECT_EQ(xid74_bits().size(), 42U);
  EXPECT_TRUE(differ_by(
      xid74_bits(), [](const Xid74Bit& bit) { return std::pair(bit.register_number, bit.bit); }));
  for (const auto& bit : xid74_bits()) {
    EXPECT_TRUE(bit.register_number >= 1 && bit.register_number <= 7 && bit.bit < 32);
    EXPECT_FALSE(is_blank(bit.action) || is_blank(bit.why));
  }
}

TEST(MovedSxids, MeanRowsThatExist) {
  EXPECT_TRUE(differ_by(
      moved_sxids(), [](const MovedSxid& moved) { return std::pair(moved.printed, moved.text); }));
  for (const auto& moved : moved_sxids())
    EXPECT_NE(Catalogue::find_sxid(moved.means), nullptr) << moved.means;
}

TEST(FindXid, FindsEveryRowAndNothingElse) {
  for (const auto& row : xid_rows()) EXPECT_EQ(Catalogue::find_xid(row.code), &row);
  EXPECT_EQ(Catalogue::find_xid(0), nullptr);
  EXPECT_EQ(Catalogue::find_xid(177), nullptr);
  EXPECT_EQ(Catalogue::find_xid(99999), nullptr);
}

}  // namespace
}  // namespace gpuward::xid
