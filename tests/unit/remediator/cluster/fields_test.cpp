#include "remediator/cluster/fields.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

struct Part {
  std::string name;
  bool broken = false;
  std::optional<int> found = {};
  std::vector<std::string> words = {};

  friend bool operator==(const Part&, const Part&) = default;
};

const Fields<Part> kFields = {
    field("name", &Part::name, text(8), "What it is called.").required().vital(),
    sparse_field("broken", &Part::broken, flag(), "Whether it is."),
    field("found", &Part::found, count(), "How often."),
    field("words", &Part::words, list_of(text(), 4), "About it."),
};

std::optional<Part> read(const Json& json) { return object_of(kFields).read(json); }

TEST(Fields, WriteAndReadWhatOneLineDeclares) {
  const Part part{.name = "fan", .broken = true, .found = 2, .words = {"loud"}};

  const Json json = write_fields(part, kFields);

  EXPECT_EQ(json, (Json{{"name", "fan"}, {"broken", true}, {"found", 2}, {"words", Json{"loud"}}}));
  EXPECT_EQ(read(json), part);
}

TEST(Fields, LeaveOutWhatHasNoValue) {
  EXPECT_EQ(write_fields(Part{}, kFields), (Json{{"name", ""}, {"words", Json::array()}}));
}

TEST(Fields, DescribeThemselvesToTheApiServer) {
  const Json schema = schema_of(kFields);

  EXPECT_EQ(schema["required"], Json{"name"});
  EXPECT_EQ(schema["properties"]["name"],
            (Json{{"type", "string"}, {"maxLength", 8}, {"description", "What it is called."}}));
  EXPECT_EQ(schema["properties"].size(), kFields.size());
}

TEST(Fields, LeaveAloneWhatCannotBeRead) {
  const Json json = {{"name", "fan"}, {"broken", "yes"}, {"found", 1.5}, {"words", {1, "loud"}}};

  EXPECT_EQ(read(json), (Part{.name = "fan", .words = {"loud"}}));
}

TEST(Fields, ReadNothingWithoutWhatIsVital) {
  EXPECT_EQ(read({{"found", 2}}), std::nullopt);
  EXPECT_EQ(read("fan"), std::nullopt);
  EXPECT_THAT(list_of(object_of(kFields)).read(Json::array({1, {{"name", "fan"}}})),
              testing::Optional(testing::ElementsAre(Part{.name = "fan"})));
}

}  // namespace
}  // namespace gpuward::remediator
