// Checks the repository itself against every architecture rule.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/architecture/rules.h"
#include "tests/places.inc"

namespace gpuward::architecture {

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

namespace {

const SourceTree& repository() {
  static const SourceTree kTree = read_source_tree(GPUWARD_SOURCE_DIR);
  return kTree;
}

class Repository : public ::testing::TestWithParam<Rule> {};

TEST_P(Repository, Keeps) {
  for (const Violation& violation : GetParam().check(repository())) {
    ADD_FAILURE() << violation.path << ":" << violation.line << ": " << violation.message;
  }
}

std::string test_name_of(const ::testing::TestParamInfo<Rule>& info) {
  std::string name(info.param.name);
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, Repository,
                         ::testing::ValuesIn(all_rules().begin(), all_rules().end()), test_name_of);

TEST(RepositoryReading, FindsTheSourcesThatTheRulesAreAbout) {
  std::size_t product = 0;
  for (const SourceFile& file : repository().files)
    product += file.is_product() && file.is_cpp() ? 1 : 0;
  EXPECT_GT(product, 50U);
}

}  // namespace
}  // namespace gpuward::architecture
