#include "tests/unit/core/xid/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/xid/joiner.h"
#include "core/xid/parser.h"

namespace gpuward::xid {
namespace {

using test::LabelledLine;

// Reads the corpus as parse-log does: by line, joined. The event of a broken record is that of its
// first line.
std::map<std::size_t, Event> parse_corpus(const std::vector<LabelledLine>& corpus) {
  std::map<std::size_t, Event> events;
  RecordJoiner joiner;
  for (const auto& line : corpus) {
    const auto record = joiner.push(line.text);
    if (auto event = parse_record(record.text)) events.emplace(record.line, std::move(*event));
  }
  return events;
}

std::string code_of(const Event& event) {
  const bool numbered = event.kind == Kind::kXid || event.kind == Kind::kSxid;
  return numbered ? std::to_string(event.code) : event.label;
}

// Adds the domain that the shortest form leaves out.
std::string full_address(const std::string& printed) {
  const auto colons = std::ranges::count(printed, ':');
  return colons == 1 ? "0000:" + printed : printed;
}

void expect_labelled(const LabelledLine& line, const Event& event) {
  EXPECT_EQ(to_string(event.kind), line.kind == "fallen_off" ? "xid" : line.kind);
  if (!line.code.empty()) {
    EXPECT_EQ(code_of(event), line.code);
  }
  EXPECT_EQ(event.pci ? event.pci->full() : "", full_address(line.address));
  EXPECT_EQ(event.pid ? std::to_string(*event.pid) : "", line.pid);
  EXPECT_EQ(event.process.value_or(""), line.process);
  if (!line.link.empty()) {
    EXPECT_EQ(event.link, std::stoi(line.link));
  }
}

TEST(Corpus, IsWhole) {
  const auto corpus = test::load_corpus();
  ASSERT_EQ(corpus.size(), 184U);
  EXPECT_EQ(std::ranges::count(corpus, "yes", &LabelledLine::must_match), 117);
}

TEST(Corpus, EveryEventIsRecognisedAsItIsLabelled) {
  const auto corpus = test::load_corpus();
  const auto events = parse_corpus(corpus);
  for (const auto& line : corpus) {
    if (line.must_match != "yes") continue;
    SCOPED_TRACE(std::to_string(line.number) + ": " + line.text);
    const auto event = events.find(line.number);
    if (event == events.end()) {
      ADD_FAILURE() << "not recognised";
      continue;
    }
    expect_labelled(line, event->second);
  }
}

TEST(Corpus, NoOtherLineIsAnXidOrAnSxid) {
  const auto corpus = test::load_corpus();
  const auto events = parse_corpus(corpus);
  for (const auto& line : corpus) {
    if (line.must_match != "no") continue;
    SCOPED_TRACE(std::to_string(line.number) + ": " + line.text);
    const auto event = events.find(line.number);
    if (event == events.end()) continue;
    // An invalid context of peer memory is an event of its own kind; the label is about Xids.
    EXPECT_EQ(event->second.kind, Kind::kPeermem);
  }
}

TEST(Corpus, ABrokenRecordIsOneEventWithTheNumberOfItsFirstLine) {
  const auto corpus = test::load_corpus();
  const auto events = parse_corpus(corpus);
  ASSERT_TRUE(events.contains(1));
  EXPECT_EQ(events.at(1).code, 79U);
  EXPECT_FALSE(events.contains(2));
  EXPECT_FALSE(events.contains(3));
}

}  // namespace
}  // namespace gpuward::xid
