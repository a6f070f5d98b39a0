#include "remediator/decide/budgets/ledger_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "tests/unit/remediator/decide/budgets/fleets.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

// Names are as long as on EC2. A rack has eighteen nodes.
std::string long_node(int n) {
  return "ip-10-" + std::to_string(100 + n % 100) + "-" + std::to_string(100 + n / 100) +
         "-200.us-west-2.compute.internal";
}
std::string long_uid(int n) {
  return "3f2b8c1e-7d41-4a6f-9b02-" + std::to_string(100'000'000'000 + n);
}
std::string long_name(int n) { return long_node(n) + "-0123456789-12"; }
std::string long_instance(int n) { return "i-" + std::to_string(10'000'000'000'000'000 + n); }

Place rack_place(int n) {
  return {"gpu-pool-p5en",
          "us-west-2a",
          {{"topology.kubernetes.io/rack", "rack-" + std::to_string(n / 18)},
           {"nvidia.com/gpu.clique", long_uid(n / 18) + ".32766"}}};
}

Ledger crowded(int slots, int starts, int attempts, int arrivals) {
  Ledger ledger;
  for (int n = 0; n < slots; ++n)
    ledger.slots.push_back({long_name(n), long_uid(n), rack_place(n), Impact::kTerminate, kToday});
  for (int n = 0; n < starts; ++n)
    ledger.starts.push_back({long_name(n), Impact::kTerminate, rack_place(n), kToday});
  for (int n = 0; n < attempts; ++n)
    ledger.attempts.push_back(
        {long_name(n), {long_instance(n), {"1652922040881"}}, Treatment::kTerminate, kToday});
  for (int n = 0; n < arrivals; ++n)
    ledger.arrivals.push_back({long_name(n), long_uid(n), kToday, true});
  return ledger;
}

TEST(LedgerText, GivesBackWhatItWasGiven) {
  Ledger ledger = crowded(3, 40, 2, 3);
  ledger.slots[1].impact = Impact::kCordon;
  ledger.slots[2].place = {};
  ledger.attempts[0].treatment = Treatment::kReset;
  ledger.arrivals[0].seen = false;
  ledger.breaker = {true, kToday + std::chrono::milliseconds(7), "why \"so\"\n100 % = all", "-"};
  ledger.slots[0].node_uid = "aws:///us-west-2a/i-0abc";
  ledger.slots[2].node_uid = "%2d \x7f\t\u20ac";
  ledger.slots[2].place.domains = {{"a=b", ""}, {"", "=c="}};
  ledger.attempts[1].hardware.serials = {"", "-", " "};
  EXPECT_EQ(decode_ledger(encode_ledger(ledger).value()).value(), ledger);
  EXPECT_EQ(decode_ledger(encode_ledger({}).value()).value(), Ledger());
}

// 5,000 nodes at the default limits: 500 are cordoned or worse, 250 of them disrupted; a month of
// attempts; as many starts as two weeks of the worst fleets in print would bring.
TEST(LedgerText, IsFarUnderAMebibyteForFiveThousandNodes) {
  EXPECT_LT(encode_ledger(crowded(500, 500, 600, 501)).value().size(), 512U << 10U);
}

TEST(LedgerText, FitsIntoAConfigMapIfItIsFullToTheLastEntry) {
  EXPECT_TRUE(encode_ledger(crowded(kMaxSlots, kMaxStarts, kMaxAttempts, kMaxArrivals)));
  EXPECT_LT(kMaxLedgerBytes, 1U << 20U);
}

TEST(LedgerText, IsNotWrittenIfItWouldNotFit) {
  Ledger ledger = crowded(kMaxSlots, 0, 0, 0);
  for (Slot& slot : ledger.slots) slot.node_uid = std::string(1000, 'x');
  const auto text = encode_ledger(ledger);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kTooLarge);
}

TEST(LedgerText, IsReadByPeople) {
  Ledger ledger;
  ledger.slots.push_back(
      {"gpu-01-ab-1", "u1", {"p5", "us-west-2a", {{"rack", "r 7"}}}, Impact::kDisrupt, kToday});
  ledger.arrivals.push_back({"gpu-01-ab-1", "u1", kToday});
  const std::string today = to_rfc3339_ms(kToday);
  EXPECT_EQ(encode_ledger(ledger).value(),
            "gpuward-ledger 2\n"
            "breaker closed 1970-01-01T00:00:00.000Z - -\n"
            "place 0 p5 us-west-2a rack=r%207\n"
            "slot gpu-01-ab-1 u1 disrupt 0 " +
                today +
                "\n"
                "arrival gpu-01-ab-1 u1 " +
                today +
                " new\n"
                "end 5\n");
}

TEST(LedgerText, OfAnotherVersionIsNoLedger) {
  const auto newer = decode_ledger("gpuward-ledger 3\n");
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().message, HasSubstr("it has version 3"));
  EXPECT_FALSE(decode_ledger("gpuward-ledger\n"));
}

TEST(LedgerText, ThatIsBrokenIsNoLedger) {
  for (const char* text : {"", "\n", "{}", "gpuward-ledger 2", "gpuward-ledger 2\n",
                           "gpuward-ledger 2\nend 1\n", "gpuward-ledger 2 \nend 1\n"})
    EXPECT_FALSE(decode_ledger(text)) << text;
}

class LedgerLines : public ::testing::Test {
 protected:
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  const std::vector<std::string> whole_ = lines_of(encode_ledger(crowded(1, 1, 1, 1)).value());
};

// The text is cut at each byte, lacks one line, or has one line twice.
TEST_F(LedgerLines, ThatAreNotAllThereAreNoLedger) {
  const std::string text = joined(whole_);
  ASSERT_TRUE(decode_ledger(text));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(decode_ledger(text.substr(0, bytes))) << bytes;
  for (std::size_t i = 0; i < whole_.size(); ++i) {
    std::vector<std::string> fewer = whole_;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(decode_ledger(joined(fewer))) << whole_[i];
    std::vector<std::string> more = whole_;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), whole_[i]);
    EXPECT_FALSE(decode_ledger(joined(more))) << whole_[i];
  }
}

// Each line has one word too many once. Each word after the first is invalid once, and missing
// once.
TEST_F(LedgerLines, WithAWordThatIsNotRightAreNoLedger) {
  int broken = 0;
  for (std::size_t i = 0; i < whole_.size(); ++i) {
    const std::string kind = whole_[i].substr(0, whole_[i].find(' '));
    std::vector<std::string> odd = whole_;
    odd[i] += kind == "place" ? " nopair" : kind == "attempt" ? " %" : " more";
    EXPECT_FALSE(decode_ledger(joined(odd))) << odd[i];
    for (std::size_t at = whole_[i].find(' '); at != std::string::npos;
         at = whole_[i].find(' ', at + 1)) {
      const std::size_t end = std::min(whole_[i].find(' ', at + 1), whole_[i].size());
      odd[i] = whole_[i].substr(0, at) + " %zz" + whole_[i].substr(end);
      EXPECT_FALSE(decode_ledger(joined(odd))) << odd[i];
      odd[i] = whole_[i].substr(0, at) + " " + whole_[i].substr(end);
      EXPECT_FALSE(decode_ledger(joined(odd))) << odd[i];
      ++broken;
    }
  }
  EXPECT_EQ(broken, 1 + 4 + 5 + 5 + 4 + 4 + 5 + 1);
}

// A lenient reader would take a rack without a name for no rack, and would skip its limit.
TEST_F(LedgerLines, ThatAreWrittenOtherwiseAreNoLedger) {
  const std::string text = joined(whole_);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const std::string& changed :
       {with("rack=rack-0", "rack="), with("slot ", " slot "), with("slot ", "slot  "),
        with("\nend", "\r\nend"), with("rack-0", "r%61ck-0"), with("place 0", "place 00")})
    EXPECT_FALSE(decode_ledger(changed)) << changed;
}

TEST(LedgerText, KeepsBytesThatAreNoUtf8) {
  Ledger ledger;
  ledger.arrivals.push_back({"a\xffz", "\u20ac", kToday});
  const std::string text = encode_ledger(ledger).value();
  EXPECT_TRUE(is_valid_utf8(text));
  EXPECT_EQ(decode_ledger(text).value(), ledger);
}

TEST(LedgerText, SaysTheLineThatItCannotRead) {
  const auto ledger = decode_ledger("gpuward-ledger 2\nbreaker closed soon - -\nend 2\n");
  ASSERT_FALSE(ledger);
  EXPECT_THAT(ledger.error().message, HasSubstr("line 2: no time"));
}

Ledger tainted(int taints) {
  Ledger ledger;
  for (int n = 0; n < taints; ++n)
    ledger.taints.push_back({long_name(n), long_uid(n), rack_place(n), Impact::kTaint, kToday});
  return ledger;
}

TEST(LedgerText, KeepsTaintsInATextOfTheirOwn) {
  Ledger ledger = tainted(40);
  ledger.taints[1].place = {};
  ledger.taints[2].node_uid = "%2d \x7f";
  EXPECT_EQ(decode_taints(encode_taints(ledger)).value(), ledger.taints);
  EXPECT_EQ(decode_taints(encode_taints({})).value(), std::vector<Slot>());
  // The version before reads only the ledger's own text, and refuses fields that it does not know.
  EXPECT_EQ(encode_ledger(ledger).value(), encode_ledger({}).value());
}

TEST(LedgerText, HasRoomForBothTextsInOneConfigMap) {
  EXPECT_LE(encode_taints(tainted(kMaxTaints)).size(), 400'000U);
  EXPECT_EQ(encode_taints({}).substr(0, 17), "gpuward-taints 1\n");
}

TEST_F(LedgerLines, OfTaintsThatAreNotAllThereAreNoTaints) {
  const std::string text = encode_taints(tainted(2));
  const std::vector<std::string> whole = lines_of(text);
  ASSERT_TRUE(decode_taints(text));
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(decode_taints(text.substr(0, bytes))) << bytes;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto fewer = whole, more = whole;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), "sludge 1");
    EXPECT_FALSE(decode_taints(joined(fewer))) << whole[i];
    EXPECT_FALSE(decode_taints(joined(more))) << whole[i];
  }
  EXPECT_FALSE(decode_taints("gpuward-taints 2\nend 1\n"));
  EXPECT_FALSE(decode_taints(encode_ledger({}).value()));
}

TEST(LedgerText, TakesNoTaintForASlotOfTheLedger) {
  Ledger ledger;
  ledger.slots.push_back({"r0", "u0", {}, Impact::kTaint, kToday});
  EXPECT_FALSE(decode_ledger(encode_ledger(ledger).value()));
}

}  // namespace
}  // namespace gpuward::remediator
