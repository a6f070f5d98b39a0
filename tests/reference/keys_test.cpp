// docs/configuration.md: compares the keys of all configuration files with their readers.
#include "tests/reference/keys.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/http/server/web_config.h"
#include "exporter/config/settings.h"
#include "remediator/policy/policy.h"
#include "tests/support/temp_dir.h"

namespace gpuward::reference {
namespace {

std::string policy_faults(const std::string& yaml) {
  const auto file = YamlFile::parse(yaml, "file");
  if (!file) return file.error().message;
  const auto policy = remediator::read_policy(*file);
  return policy ? "" : policy.error().message;
}

// For readers that need a file.
std::filesystem::path write(const support::TempDir& folder, const std::string& yaml) {
  std::ofstream(folder / "file") << yaml;
  return folder / "file";
}

std::string settings_faults(const std::string& yaml) {
  const support::TempDir folder;
  const auto settings = exporter::load_settings({.file = write(folder, yaml)});
  return settings ? "" : settings.error().message;
}

std::string web_faults(const std::string& yaml) {
  const support::TempDir folder;
  const auto config = http::load_web_config(write(folder, yaml));
  return config ? "" : config.error().message;
}

struct File {
  std::string name;
  std::string heading;  // of its tables
  Reader reader;
};
void PrintTo(const File& file, std::ostream* out) { *out << file.name; }

class KeysReference : public testing::TestWithParam<File> {
 protected:
  const Reader& reader() { return GetParam().reader; }
  std::vector<Key> keys_ = documented_keys(GetParam().heading);
};

TEST_P(KeysReference, HasExactlyTheKeysThatTheReaderKnows) {
  ASSERT_GT(keys_.size(), 5U);
  for (const auto& [mapping, names] : mappings_of(keys_)) {
    EXPECT_THAT(names, testing::ContainerEq(allowed_in(reader(), mapping))) << "in " << mapping;
  }
}

TEST_P(KeysReference, HasTheTypeAndTheRangeThatTheReaderTakes) {
  for (const Key& key : keys_) {
    const auto [type, range] = type_of(reader(), key);
    EXPECT_EQ(key.type, type) << key.path;
    EXPECT_EQ(key.range, range) << key.path;
  }
}

TEST_P(KeysReference, HasDefaultsThatTheReaderTakes) {
  for (const Key& key : keys_) {
    if (key.preset.empty()) continue;
    const bool is_word = key.type == "text" || key.type == "word";
    const std::string value = is_word ? "'" + key.preset + "'" : key.preset;
    EXPECT_EQ(complaint_about(reader(), key, value), "") << key.path << ": " << value;
  }
}

// A mapping whose keys are described elsewhere has those keys.
TEST_P(KeysReference, SendsToAMappingOfTheSameKeys) {
  for (const Key& key : keys_) {
    if (!key.meaning.starts_with("as `")) continue;
    const std::string other = key.meaning.substr(4, key.meaning.find('`', 4) - 4);
    EXPECT_EQ(allowed_in(reader(), key.path), allowed_in(reader(), other)) << key.path;
  }
}

INSTANTIATE_TEST_SUITE_P(All, KeysReference,
                         testing::Values(File{"Policy", "The policy file", policy_faults},
                                         File{"Exporter", "The exporter's file", settings_faults},
                                         File{"Web", "The file of --web.config.file", web_faults}),
                         [](const auto& file) { return file.param.name; });

TEST(RepairerTable, NamesEachKnownSignAndEachValueAtRest) {
  const auto words = code_words(tree_file("docs/guards.md"));
  for (const remediator::RepairerSign& sign : remediator::known_repairer_signs()) {
    EXPECT_THAT(words, testing::Contains(sign.key));
    for (const std::string& value : sign.at_rest) {
      if (value.empty()) continue;
      EXPECT_THAT(words, testing::Contains(value)) << sign.key;
    }
  }
}

}  // namespace
}  // namespace gpuward::reference
