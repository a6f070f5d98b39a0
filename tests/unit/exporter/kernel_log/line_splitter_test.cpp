#include "exporter/kernel_log/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gpuward::exporter {
namespace {

using testing::ElementsAre;

struct Lines {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  void operator()(std::string_view text, std::size_t size) {
    texts.emplace_back(text);
    bytes += size;
  }
};

TEST(LineSplitter, JoinsALineThatComesInPieces) {
  LineSplitter splitter;
  Lines lines;
  const auto collect = [&](std::string_view text, std::size_t size) { lines(text, size); };

  splitter.feed("NVRM: X", collect);
  splitter.feed("id\nnext", collect);
  splitter.feed(" one\r\n\n", collect);

  EXPECT_THAT(lines.texts, ElementsAre("NVRM: Xid", "next one", ""));
  EXPECT_EQ(lines.bytes, std::string("NVRM: Xid\nnext one\r\n\n").size());
}

TEST(LineSplitter, HandsOutTheLastLineOnlyWhenTold) {
  LineSplitter splitter;
  Lines lines;
  const auto collect = [&](std::string_view text, std::size_t size) { lines(text, size); };

  splitter.feed("no end", collect);
  EXPECT_TRUE(lines.texts.empty());
  splitter.finish(collect);

  EXPECT_THAT(lines.texts, ElementsAre("no end"));
}

TEST(LineSplitter, KeepsTheBeginningOfAnEndlessLineAndCountsAllItsBytes) {
  LineSplitter splitter;
  Lines lines;
  const auto collect = [&](std::string_view text, std::size_t size) { lines(text, size); };

  for (int i = 0; i < 100; ++i) splitter.feed(std::string(10'000, 'x'), collect);
  splitter.feed("\nafter\n", collect);

  ASSERT_EQ(lines.texts.size(), 2U);
  EXPECT_EQ(lines.texts[0].size(), LineSplitter::kMostLineBytes);
  EXPECT_EQ(lines.texts[1], "after");
  EXPECT_EQ(lines.bytes, 1'000'000U + 7);
}

}  // namespace
}  // namespace gpuward::exporter
