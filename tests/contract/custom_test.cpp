#include "tests/contract/contract_test.h"

namespace gpuward::contract {
namespace {

using kube::CustomObject;

class CustomContract : public ContractTest {
 protected:
  Result<CustomObject> create(const std::string& name, const Json& spec = {{"severity", "reset"}},
                              const Json& labels = nullptr) {
    Json gadget = {{"apiVersion", "contract.gpuward.dev/v1"},
                   {"kind", "Gadget"},
                   {"metadata", {{"name", name}}},
                   {"spec", spec}};
    if (!labels.is_null()) gadget["metadata"]["labels"] = labels;
    return api().create_custom(gadget_type(), dump_json(gadget));
  }
  static std::string status_body(const std::string& name, const std::string& version,
                                 const std::string& phase, const Json& spec = Json::object()) {
    return dump_json({{"apiVersion", "contract.gpuward.dev/v1"},
                      {"kind", "Gadget"},
                      {"metadata", {{"name", name}, {"resourceVersion", version}}},
                      {"spec", spec},
                      {"status", {{"phase", phase}}}});
  }
  Json read(const std::string& name) {
    const auto object = api().get_custom(gadget_type(), name);
    return object ? *object->json : Json();
  }
};
GPUWARD_CONTRACT(CustomContract);

TEST_P(CustomContract, IsCreatedAndRead) {
  const auto created = create(own_name());
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_FALSE(created->meta.uid.empty());
  const auto object = api().get_custom(gadget_type(), own_name());
  ASSERT_TRUE(object);
  EXPECT_EQ(object->meta.uid, created->meta.uid);
  EXPECT_EQ(object->json->at("spec").at("severity"), "reset");
}

TEST_P(CustomContract, OfOneNameIsCreatedOnce) {
  ASSERT_TRUE(create(own_name()));
  EXPECT_EQ(create(own_name()).error().kind, ErrorKind::kAlreadyExists);
}

TEST_P(CustomContract, ThatIsNotThereIsNotFound) {
  EXPECT_EQ(api().get_custom(gadget_type(), "absent").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(api().patch_custom(gadget_type(), "absent", "{}").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(api().delete_custom(gadget_type(), "absent").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(api().get_custom({"contract.gpuward.dev", "v1", "gizmos", ""}, "a").error().kind,
            ErrorKind::kNotFound);
}

TEST_P(CustomContract, AreListedByLabelInPages) {
  for (int i = 0; i < 5; ++i) {
    const auto made =
        create(own_name("-" + std::to_string(i)), {{"severity", "reset"}}, {{"list", "me"}});
    ASSERT_TRUE(made) << made.error().message;
  }
  Connection small(target(), Role::kAdmin, 2);
  const auto objects = small.api.list_custom(gadget_type(), "list=me");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_EQ(objects->size(), 5U);
}

TEST_P(CustomContract, TheStatusAndTheRestAreWrittenApart) {
  ASSERT_TRUE(create(own_name()));
  const auto main = api().patch_custom(gadget_type(), own_name(),
                                       R"({"spec":{"count":2},"status":{"phase":"forged"}})");
  ASSERT_TRUE(main) << main.error().message;
  EXPECT_EQ(read(own_name())["spec"]["count"], 2);
  EXPECT_FALSE(read(own_name()).contains("status"));
  const auto status = api().update_custom_status(
      gadget_type(), own_name(),
      status_body(own_name(), main->meta.resource_version, "Open", {{"count", 9}}));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(read(own_name())["spec"]["count"], 2);
  EXPECT_EQ(read(own_name())["status"]["phase"], "Open");
}

TEST_P(CustomContract, AStatusGivenAtCreationIsDropped) {
  const auto created = api().create_custom(
      gadget_type(),
      R"({"apiVersion":"contract.gpuward.dev/v1","kind":"Gadget","metadata":{"name":")" +
          own_name() + R"("},"spec":{"severity":"reset"},"status":{"phase":"forged"}})");
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_FALSE(read(own_name()).contains("status"));
}

TEST_P(CustomContract, TheSchemaRefusesAndSaysWhere) {
  const auto wrong = create(own_name("-a"), {{"severity", "explode"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(wrong.error().message, ::testing::HasSubstr("spec.severity"));
  EXPECT_EQ(create(own_name("-b"), {{"severity", "reset"}, {"count", -1}}).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(create(own_name("-c"), {{"severity", "reset"}, {"note", "far too long"}}).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(create(own_name("-d"), Json::object()).error().kind, ErrorKind::kInvalid);
  ASSERT_TRUE(create(own_name("-e")));
  EXPECT_EQ(
      api().patch_custom(gadget_type(), own_name("-e"), R"({"spec":{"severity":5}})").error().kind,
      ErrorKind::kInvalid);
}

TEST_P(CustomContract, DropsWhatTheSchemaDoesNotKnow) {
  ASSERT_TRUE(create(own_name(), {{"severity", "reset"}, {"unknown", 1}}));
  EXPECT_FALSE(read(own_name())["spec"].contains("unknown"));
}

TEST_P(CustomContract, AStatusForAnOldVersionIsAConflict) {
  const auto seen = create(own_name());
  ASSERT_TRUE(seen);
  const std::string& version = seen->meta.resource_version;
  const auto theirs = api().update_custom_status(gadget_type(), own_name(),
                                                 status_body(own_name(), version, "theirs"));
  ASSERT_TRUE(theirs) << theirs.error().message;
  EXPECT_NE(theirs->resource_version, version);
  EXPECT_EQ(
      api()
          .update_custom_status(gadget_type(), own_name(), status_body(own_name(), version, "mine"))
          .error()
          .kind,
      ErrorKind::kConflict);
  EXPECT_EQ(read(own_name())["status"]["phase"], "theirs");
}

TEST_P(CustomContract, IsDeletedUnderItsUidOnly) {
  const auto made = create(own_name());
  ASSERT_TRUE(made);
  const auto another =
      api().delete_custom(gadget_type(), own_name(), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(another.error().kind, ErrorKind::kConflict);
  ASSERT_TRUE(api().delete_custom(gadget_type(), own_name(), made->meta.uid));
  EXPECT_EQ(api().get_custom(gadget_type(), own_name()).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace gpuward::contract
