#include "remediator/safety/ledger_json.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"
#include "tests/unit/remediator/safety/fleets.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

// Names as long as they are on EC2, eighteen nodes a rack.
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
    ledger.slots.push_back({long_name(n), long_node(n), long_uid(n), long_instance(n),
                            rack_place(n), Harm::kTerminate, kToday});
  for (int n = 0; n < starts; ++n)
    ledger.starts.push_back({long_name(n), Harm::kTerminate, rack_place(n), kToday});
  for (int n = 0; n < attempts; ++n)
    ledger.attempts.push_back(
        {long_name(n), {long_instance(n), {"1652922040881"}}, Treatment::kTerminate, kToday});
  for (int n = 0; n < arrivals; ++n)
    ledger.arrivals.push_back({long_name(n), long_uid(n), kToday, true});
  return ledger;
}

TEST(LedgerJson, GivesBackWhatItWasGiven) {
  Ledger ledger = crowded(3, 40, 2, 3);
  ledger.slots[1].harm = Harm::kCordon;
  ledger.slots[2].place = {};
  ledger.attempts[0].treatment = Treatment::kReset;
  ledger.arrivals[0].seen = false;
  ledger.breaker = {true, kToday + std::chrono::milliseconds(7), "why \"so\"", "ada"};
  EXPECT_EQ(decode_ledger(encode_ledger(ledger).value()).value(), ledger);
  EXPECT_EQ(decode_ledger(encode_ledger({}).value()).value(), Ledger());
}

// 5,000 nodes at the default limits: 500 cordoned or worse, 250 of them disrupted; a month's
// attempts; as many starts as two weeks of the worst fleets in print would bring.
TEST(LedgerJson, IsFarUnderAMebibyteForFiveThousandNodes) {
  EXPECT_LT(encode_ledger(crowded(500, 500, 600, 501)).value().size(), 512U << 10U);
}

TEST(LedgerJson, FitsIntoAConfigMapWhereItIsFullToTheLastEntry) {
  EXPECT_TRUE(encode_ledger(crowded(kMaxSlots, kMaxStarts, kMaxAttempts, kMaxArrivals)));
  EXPECT_LT(kMaxLedgerBytes, 1U << 20U);
}

TEST(LedgerJson, IsNotWrittenWhereItWouldNotFit) {
  Ledger ledger = crowded(kMaxSlots, 0, 0, 0);
  for (Slot& slot : ledger.slots) slot.node = std::string(1000, 'x');
  const auto text = encode_ledger(ledger);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kTooLarge);
}

TEST(LedgerJson, OfAnotherVersionIsNoLedger) {
  Json json = parse_json(encode_ledger({}).value()).value();
  json["version"] = 2;
  const auto newer = decode_ledger(dump_json(json));
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().message, HasSubstr("version 2"));
  json.erase("version");
  EXPECT_FALSE(decode_ledger(dump_json(json)));
}

TEST(LedgerJson, ThatIsBrokenIsNoLedger) {
  for (const char* text : {"", "{", "null", "[]", "{}", R"({"version":1})"})
    EXPECT_FALSE(decode_ledger(text)) << text;
}

// Each field of each entry once missing and once of another type.
TEST(LedgerJson, WithAnEntryThatIsNotWholeIsNoLedger) {
  const Json whole = parse_json(encode_ledger(crowded(1, 1, 1, 1)).value()).value();
  int broken = 0;
  for (const char* list : {"slots", "starts", "arrivals", "attempts", "places"}) {
    for (const auto& [key, value] : whole[list][0].items()) {
      Json missing = whole;
      missing[list][0].erase(key);
      EXPECT_FALSE(decode_ledger(dump_json(missing))) << list << "." << key;
      Json odd = whole;
      odd[list][0][key] = value.is_number() ? Json(99) : Json(7);
      EXPECT_FALSE(decode_ledger(dump_json(odd))) << list << "." << key;
      ++broken;
    }
  }
  EXPECT_EQ(broken, 7 + 4 + 4 + 5 + 3);
  for (const char* key : {"slots", "starts", "arrivals", "attempts", "places", "breaker"}) {
    Json missing = whole;
    missing.erase(key);
    EXPECT_FALSE(decode_ledger(dump_json(missing))) << key;
  }
}

TEST(LedgerJson, WithAWordThatItDoesNotKnowIsNoLedger) {
  const Json whole = parse_json(encode_ledger(crowded(1, 1, 1, 1)).value()).value();
  for (const auto& [list, key] : {std::pair{"slots", "harm"}, std::pair{"starts", "at"},
                                  std::pair{"attempts", "treatment"}}) {
    Json odd = whole;
    odd[list][0][key] = "sometimes";
    EXPECT_FALSE(decode_ledger(dump_json(odd))) << list << "." << key;
  }
  Json odd_serials = whole;
  odd_serials["attempts"][0]["serials"] = {7};
  EXPECT_FALSE(decode_ledger(dump_json(odd_serials)));
}

}  // namespace
}  // namespace gpuward::remediator
