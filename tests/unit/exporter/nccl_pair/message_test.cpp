#include "exporter/nccl_pair/message.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"

namespace gpuward::exporter::nccl_pair {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Nonces kNonces{.of_rank_0 = std::string(32, '0'), .of_rank_1 = std::string(32, '1')};

Greeting greeting() {
  return {.version = kProtocolVersion,
          .nonce = kNonces.of_rank_1,
          .proof = proof_of("secret", 1, kNonces),
          .terms = {.host = "node-b",
                    .gpus = 8,
                    .nccl_version = 22304,
                    .most_bytes = kSizes.back(),
                    .min_bus_bandwidth = 350.5},
          .id = {},
          .refused = {}};
}

std::string line_of(const auto& said) {
  std::string line = encode(said);
  EXPECT_TRUE(line.ends_with("\n"));
  line.pop_back();
  return line;
}

// The greeting's line with one member changed.
std::string changed(const std::string& key, const Json& value) {
  auto json = parse_json(line_of(greeting()));
  EXPECT_TRUE(json);
  (*json)[key] = value;
  return dump_json(*json);
}

TEST(PairGreeting, IsUnderstoodAsItWasSaid) {
  Greeting said = greeting();
  said.id = UniqueId{'\x00', '\xff', 'i'};
  said.refused = "no";

  const auto heard = decode_greeting(line_of(said));

  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->terms.host, "node-b");
  EXPECT_EQ(heard->terms.gpus, 8U);
  EXPECT_EQ(heard->terms.nccl_version, 22304);
  EXPECT_EQ(heard->terms.most_bytes, kSizes.back());
  EXPECT_EQ(heard->terms.min_bus_bandwidth, 350.5);
  EXPECT_EQ(heard->id, said.id);
  EXPECT_EQ(heard->nonce, said.nonce);
  EXPECT_EQ(heard->refused, "no");
  EXPECT_EQ(difference_of(said, *heard), "");
}

TEST(PairGreeting, ShowsThatItKnowsTheTokenWithoutSayingIt) {
  EXPECT_THAT(encode(greeting()), Not(HasSubstr("secret")));
  EXPECT_TRUE(proves(greeting().proof, "secret", 1, kNonces));
  EXPECT_FALSE(proves(greeting().proof, "secret", 0, kNonces)) << "an echo is no proof";
  EXPECT_FALSE(proves(greeting().proof, "another", 1, kNonces));
  EXPECT_FALSE(proves("", "secret", 1, kNonces));
}

TEST(PairGreeting, ProvesNothingOnAnotherConnection) {
  Nonces other = kNonces;
  other.of_rank_0 = make_nonce();
  EXPECT_FALSE(proves(greeting().proof, "secret", 1, other));
  other = kNonces;
  other.of_rank_1 = make_nonce();
  EXPECT_FALSE(proves(greeting().proof, "secret", 1, other));
  EXPECT_NE(make_nonce(), make_nonce());
}

TEST(PairChallenge, IsUnderstoodAsItWasSaid) {
  const std::string nonce = make_nonce();
  std::string line = encode_challenge(nonce);
  ASSERT_TRUE(line.ends_with("\n"));
  line.pop_back();
  EXPECT_EQ(decode_challenge(line).value_or(""), nonce);
  for (const char* none : {"", "{}", R"({"challenge":"0f"})", R"({"challenge":7})",
                           R"({"challenge":"gggggggggggggggggggggggggggggggg"})"}) {
    EXPECT_FALSE(decode_challenge(none)) << none;
  }
}

TEST(PairGreeting, IsRefusedWithAnythingOutOfRange) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, Json>>{{"gpus", 0},
                                                 {"gpus", kMostGpus + 1},
                                                 {"gpus", "8"},
                                                 {"gpus", -1},
                                                 {"nccl", 0},
                                                 {"bytes", kSizes.back() + 1},
                                                 {"min_bus_bandwidth", -1},
                                                 {"min_bus_bandwidth", "350"},
                                                 {"min_bus_bandwidth", 1e13},
                                                 {"host", ""},
                                                 {"host", std::string(300, 'a')},
                                                 {"host", "node\nb"},
                                                 {"proof", "short"},
                                                 {"nonce", "short"},
                                                 {"id", "0f"},
                                                 {"id", std::string(256, 'g')},
                                                 {"refused", std::string(600, 'a')},
                                                 {"gpuward_nccl_pair", "1"}}) {
    EXPECT_FALSE(decode_greeting(changed(key, value))) << key << " " << dump_json(value);
  }
  EXPECT_FALSE(decode_greeting(""));
  EXPECT_FALSE(decode_greeting(std::string(kMostMessageBytes + 1, ' ')));
}

TEST(PairGreeting, SaysWhatDiffers) {
  const auto difference = [](const std::function<void(Greeting&)>& change) {
    Greeting theirs = greeting();
    change(theirs);
    return difference_of(greeting(), theirs);
  };

  EXPECT_THAT(difference([](Greeting& g) { g.version = 1; }), HasSubstr("the protocol"));
  EXPECT_THAT(difference([](Greeting& g) { g.terms.gpus = 4; }),
              AllOf(HasSubstr("number of GPUs"), HasSubstr("8"), HasSubstr("4")));
  EXPECT_THAT(difference([](Greeting& g) { g.terms.nccl_version = 2804; }),
              AllOf(HasSubstr("2.23.4"), HasSubstr("2.8.4")));
  EXPECT_THAT(difference([](Greeting& g) { g.terms.min_bus_bandwidth = 400; }),
              AllOf(HasSubstr("350.5"), HasSubstr("400")));
  EXPECT_EQ(difference([](Greeting& g) { g.terms.most_bytes = 0; }), "");
  EXPECT_EQ(difference([](Greeting& g) { g.terms.host = "node-c"; }), "");
}

TEST(PairMessage, IsUnderstoodAsItWasSaid) {
  const Message measured{.kind = Message::Kind::kReport,
                         .report = {.kind = SideResult::Kind::kMeasured,
                                    .words = {},
                                    .figures = {.nanoseconds = {1, 2, 3}, .wrong_values = 4}}};
  auto heard = decode_message(line_of(measured));
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(heard->report.figures.nanoseconds, measured.report.figures.nanoseconds);
  EXPECT_EQ(heard->report.figures.wrong_values, 4U);

  for (const auto kind : {SideResult::Kind::kFailed, SideResult::Kind::kHangs,
                          SideResult::Kind::kUnknown, SideResult::Kind::kGaveUp}) {
    heard = decode_message(
        line_of(Message{.kind = Message::Kind::kReport,
                        .report = {.kind = kind, .words = "the words", .figures = {}}}));
    ASSERT_TRUE(heard) << heard.error().message;
    EXPECT_EQ(heard->report.kind, kind);
    EXPECT_EQ(heard->report.words, "the words");
  }
}

TEST(PairMessage, CutsWordsSoThatItFits) {
  const std::string line = line_of(Message{
      .kind = Message::Kind::kReport,
      .report = {
          .kind = SideResult::Kind::kFailed, .words = std::string(9'000, '"'), .figures = {}}});

  EXPECT_LT(line.size(), kMostMessageBytes);
  const auto heard = decode_message(line);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->report.words.size(), kMostWordsBytes);
}

TEST(PairMessage, IsRefusedIfItIsNone) {
  for (const char* line :
       {"", "{}", "[]", "{\"ready\":false}", "{\"report\":\"lost\"}",
        R"({"report":"measured","wrong_values":0})",
        R"({"report":"measured","wrong_values":0,"nanoseconds":[]})",
        R"({"report":"measured","wrong_values":0,"nanoseconds":[0]})",
        R"({"report":"measured","wrong_values":0,"nanoseconds":[1,1,1,1,1]})",
        R"({"report":"measured","wrong_values":0,"nanoseconds":[9223372036854775807]})",
        R"({"report":"measured","wrong_values":0,"nanoseconds":[1.5]})",
        R"({"report":"measured","wrong_values":-1,"nanoseconds":[1]})"}) {
    EXPECT_FALSE(decode_message(line)) << line;
  }
}

TEST(NcclVersion, IsWrittenAsPeopleWriteIt) {
  EXPECT_EQ(nccl_version_text(2804), "2.8.4");
  EXPECT_EQ(nccl_version_text(20902), "2.9.2");
  EXPECT_EQ(nccl_version_text(22304), "2.23.4");
}

}  // namespace
}  // namespace gpuward::exporter::nccl_pair
