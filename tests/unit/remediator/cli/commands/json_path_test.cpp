#include "remediator/cli/commands/json_path.h"

#include <gtest/gtest.h>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

Json at(std::string_view path, const Json& object) {
  const auto parsed = JsonPath::parse(path);
  EXPECT_TRUE(parsed) << path;
  return parsed ? parsed->in(object) : Json("none");
}

TEST(JsonPath, IsUnderstoodAsKubectlDoes) {
  const Json object = {{"a", {{"b", 1}, {"c.d/e", 2}, {"l", {{{"x", 3}}}}}}};

  for (const char* const path : {".a.b", "a.b", "{.a.b}", "{a.b}", " {.a.b} "})
    EXPECT_EQ(at(path, object), 1) << path;
  EXPECT_EQ(at(R"(.a.c\.d/e)", object), 2);
  EXPECT_EQ(at("{.a.l[0].x}", object), 3);
  for (const char* const path : {".a.z", ".z.b", ".a.l[1].x", ".a.l.x", ".a.b.c"})
    EXPECT_TRUE(at(path, object).is_null()) << path;
}

TEST(JsonPath, IsRefusedIfItIsMoreThanAPath) {
  for (const char* const path : {"", "{}", ".", ".a.", "{.a", ".a[*]", ".a[-1]", ".a[0", "..a",
                                 ".a[?(@.b==1)]", "{.a}{.b}", ".a.*"})
    EXPECT_FALSE(JsonPath::parse(path)) << path;
}

TEST(JsonPath, SortsNumbersInTextsByTheirValue) {
  const auto less = [](const Json& left, const Json& right) {
    EXPECT_FALSE(is_less(right, left));
    return is_less(left, right);
  };
  EXPECT_TRUE(less("gpu-2", "gpu-10"));
  EXPECT_TRUE(less("gpu-2-a", "gpu-10-a"));
  EXPECT_TRUE(less("gpu", "gpu-1"));
  EXPECT_TRUE(less("a", "b"));
  EXPECT_TRUE(less(2, 10));
  EXPECT_TRUE(less(nullptr, "a"));
  EXPECT_TRUE(less("2026-01-01T00:00:09Z", "2026-01-01T00:01:00Z"));
  EXPECT_FALSE(is_less("gpu-2", "gpu-2"));
  EXPECT_FALSE(is_less(nullptr, nullptr));
}

}  // namespace
}  // namespace gpuward::remediator
