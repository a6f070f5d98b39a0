#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "core/xid/catalogue.h"
#include "tests/places.inc"

namespace gpuward::xid {
namespace {

std::string read_docs() {
  std::ifstream in(std::string{GPUWARD_SOURCE_DIR} + "/docs/xid.md", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(XidDocs, GiveTheSeverityThatIsInForceIfSourcesDisagree) {
  const auto text = read_docs();
  const std::regex row(R"(\| (\d+) \| [^|\n]+ \| (\w+) \|)");
  int rows = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end;
       ++match, ++rows) {
    Event event;
    event.code = static_cast<std::uint32_t>(std::stoul((*match)[1]));
    EXPECT_EQ(to_string(Catalogue().judge(event).severity), (*match)[2].str()) << event.code;
  }
  EXPECT_GE(rows, 20);
}

TEST(XidDocs, NameFilesThatExist) {
  const auto text = read_docs();
  const std::regex name(R"(`((?:core|tests)/[a-z0-9_/.]+)`)");
  int names = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end;
       ++match, ++names) {
    EXPECT_TRUE(std::filesystem::exists(std::string{GPUWARD_SOURCE_DIR} + "/" + (*match)[1].str()))
        << (*match)[1];
  }
  EXPECT_GE(names, 8);
}

TEST(XidDocs, SayHowManyRowsThereAre) {
  const auto text = read_docs();
  EXPECT_NE(text.find("(" + std::to_string(xid_rows().size()) + " Xids)"), std::string::npos);
  EXPECT_NE(text.find("(" + std::to_string(sxid_rows().size()) + " SXids)"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::xid
