#include "core/upload/target.h"

#include <gmock/gmock.h>

namespace gpuward {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(UploadTarget, IsABucketAUrlOrAFolder) {
  const std::vector<std::pair<const char*, const char*>> places = {
      {"s3://evidence", "s3://evidence/a.tar.gz"},
      {"s3://evidence/prod?region=eu-west-1", "s3://evidence/prod/a.tar.gz"},
      {"https://files.example/gpu", "https://files.example/gpu/a.tar.gz"},
      {"http://10.0.0.7:8080/gpu/", "http://10.0.0.7:8080/gpu/a.tar.gz"},
      {"https://files.example", "https://files.example/a.tar.gz"},
      {"/mnt/evidence", "/mnt/evidence/a.tar.gz"}};
  for (const auto& [text, place] : places) {
    const auto target = parse_upload_target(text);
    ASSERT_TRUE(target) << text << ": " << target.error().message;
    EXPECT_EQ(to_text(below(*target, "a.tar.gz")), place);
  }
}

TEST(UploadTarget, IsRefusedIfItCanNeverWorkOrHoldsASecret) {
  for (const char* text :
       {"", "/", "evidence", "evidence/", "ftp://host/", "https://", "https:///path", "s3://B",
        "https://user:very-secret@host/", "https://very-secret@host/",
        "https://host/?token=very-secret", "https://host/#very-secret", "https://host/a b",
        "https://host/../x", "/mnt/../etc", "/mnt/$(SECRET)", "s3://bucket/very-secret?x"}) {
    const auto target = parse_upload_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(target.error().message, Not(HasSubstr("very-secret")));
  }
}

}  // namespace
}  // namespace gpuward
