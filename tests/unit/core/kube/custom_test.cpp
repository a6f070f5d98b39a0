#include "tests/unit/core/kube/api_fixture.h"

namespace gpuward::kube {
namespace {

using CustomTest = ApiTest;

const ResourceType kType{"gpuward.dev", "v1alpha1", "remediations", ""};
constexpr const char* kObject =
    R"({"metadata":{"name":"r1","uid":"u","resourceVersion":"3"},"spec":{"x":1}})";

TEST_F(CustomTest, GivesBackTheWholeObjectAsItCame) {
  client.then(answer(200, kObject));
  const auto object = api.get_custom(kType, "r1");
  ASSERT_TRUE(object);
  EXPECT_EQ(url(0), "https://api:6443/apis/gpuward.dev/v1alpha1/remediations/r1");
  EXPECT_EQ(*object->json, parse_json(kObject).value());
  EXPECT_EQ(object->meta.resource_version, "3");
}

TEST_F(CustomTest, OfANamespaceLieThere) {
  client.then(answer(200, kObject));
  ASSERT_TRUE(api.get_custom({"g", "v1", "things", "ns"}, "r1"));
  EXPECT_EQ(url(0), "https://api:6443/apis/g/v1/namespaces/ns/things/r1");
}

TEST_F(CustomTest, AreCreatedOnceEvenIfTheAnswerIsLost) {
  client.then_fail(ErrorKind::kTimeout);
  client.then(failure(409, "AlreadyExists"));
  EXPECT_EQ(api.create_custom(kType, kObject).error().kind, ErrorKind::kAlreadyExists);
}

TEST_F(CustomTest, HaveAStatusOfTheirOwn) {
  client.then(answer(200, kObject));
  client.then(answer(200, kObject));
  ASSERT_TRUE(api.patch_custom(kType, "r1", "{}"));
  const auto written = api.update_custom_status(kType, "r1", "{}");
  ASSERT_TRUE(written);
  EXPECT_EQ(written->resource_version, "3");
  EXPECT_EQ(url(0), "https://api:6443/apis/gpuward.dev/v1alpha1/remediations/r1");
  EXPECT_EQ(url(1), "https://api:6443/apis/gpuward.dev/v1alpha1/remediations/r1/status");
  EXPECT_EQ(client.header(0, "Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(client.requests[1].method, "PUT");
  EXPECT_TRUE(client.header(1, "Accept").starts_with("application/json;as=PartialObjectMetadata"));
}

TEST_F(CustomTest, ASchemaThatRefusesSaysWhy) {
  client.then(failure(422, "Invalid", "spec.severity: Unsupported value"));
  const auto object = api.patch_custom(kType, "r1", "{}");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(object.error().message.find("Unsupported value"), std::string::npos);
}

TEST_F(CustomTest, AreDeletedByUid) {
  client.then(answer(200, kStatusSuccess));
  ASSERT_TRUE(api.delete_custom(kType, "r1", "u"));
  EXPECT_EQ(sent(0)["preconditions"]["uid"], "u");
}

TEST_F(CustomTest, AreDeletedByLeaveAskedBeforeEachAttempt) {
  int asked = 0;
  const Permit once = [&]() -> Status {
    if (++asked == 1) return {};
    return fail(ErrorKind::kBlocked, "a human has said pause");
  };
  const Permit never = [] { return Status(fail(ErrorKind::kBlocked, "stopped")); };
  EXPECT_EQ(api.delete_custom(kType, "r1", "u", never).error().kind, ErrorKind::kBlocked);
  EXPECT_TRUE(client.requests.empty());
  client.then_fail(ErrorKind::kTimeout);

  const auto deleted = api.delete_custom(kType, "r1", "u", once);

  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().kind, ErrorKind::kTimeout) << "the first may have been carried out";
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(client.requests.size(), 1U);
  asked = 0;
  client.then(failure(429, "TooManyRequests"));
  EXPECT_EQ(api.delete_custom(kType, "r1", "u", once).error().kind, ErrorKind::kBlocked);
}

TEST_F(CustomTest, NeverReachTheCollectionByAnEmptyName) {
  EXPECT_EQ(api.delete_custom(kType, "").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(api.get_custom(kType, "a/b").error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(client.requests.empty());
}

TEST_F(CustomTest, AreListedWhole) {
  client.then(answer(
      200, std::string(R"({"metadata":{"resourceVersion":"9"},"items":[)") + kObject + "]}"));
  const auto objects = api.list_custom(kType, "node=n1");
  ASSERT_TRUE(objects);
  ASSERT_EQ(objects->size(), 1U);
  EXPECT_EQ(*objects->front().json, parse_json(kObject).value());
}

TEST_F(CustomTest, TheServersReadinessIsPlainText) {
  client.then(answer(200, "ok"));
  EXPECT_TRUE(api.ready());
  EXPECT_EQ(url(0), "https://api:6443/readyz");
}

}  // namespace
}  // namespace gpuward::kube
