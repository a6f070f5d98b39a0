#include "core/aws/xml.h"

#include <gtest/gtest.h>

namespace gpuward::aws {
namespace {

TEST(Xml, IsATreeOfElementsAndTheirText) {
  const auto root = parse_xml(
      "<?xml version=\"1.0\"?>\n<a:Answer xmlns:a=\"urn:x\">\n <set><item><id> i-1 </id></item>"
      "<item><id>i-2</id></item></set><why>5 &lt; 6 &amp; so</why></a:Answer>");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->name, "Answer");
  EXPECT_EQ(root->child("set").children.size(), 2U);
  EXPECT_EQ(root->text_at("set/item/id"), "i-1");
  EXPECT_EQ(root->child("set").children[1].text_at("id"), "i-2");
  EXPECT_EQ(root->text_at("why"), "5 < 6 & so");
}

TEST(Xml, WhatIsNotThereIsEmpty) {
  const auto root = parse_xml("<a/>");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->text_at("b/c/d"), "");
  EXPECT_EQ(root->child("b").child("c").name, "");
}

TEST(Xml, WhatIsNoXmlSaysWhere) {
  for (const char* const text : {"", "no", "<a>", "<a></b>", "<html><body>502</html>"}) {
    const auto root = parse_xml(text);
    ASSERT_FALSE(root) << text;
    EXPECT_EQ(root.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(root.error().message.find("at byte"), std::string::npos) << root.error().message;
  }
}

TEST(Xml, EntitiesOfADocumentTypeAreNotRead) {
  const auto root = parse_xml(
      "<!DOCTYPE a [<!ENTITY x \"yyyyyyyy\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>"
      "<a><b>&x;&f;</b></a>");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->text_at("b"), "&x;&f;");
}

TEST(Xml, SizeAndDepthHaveCaps) {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "<a>";
  for (int i = 0; i < 300'000; ++i) deep += "</a>";
  EXPECT_EQ(parse_xml(deep).error().kind, ErrorKind::kTooLarge);
  EXPECT_EQ(parse_xml("<a>" + std::string(100, ' ') + "</a>", 64).error().kind,
            ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace gpuward::aws
