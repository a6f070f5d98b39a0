#include "remediator/cli/commands/given_policy.h"

#include <cstddef>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "core/runtime/yaml.h"
#include "remediator/config/load_policy.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kPolicyKey = "policy.yaml";

struct Text {
  std::string name, text;
  bool is_of_values = false;
};

Result<Text> read_text(const std::filesystem::path& file) {
  if (file == "-") {
    return Text{.name = "stdin", .text = std::string(std::istreambuf_iterator<char>(std::cin), {})};
  }
  auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  return Text{.name = file.string(), .text = *std::move(text)};
}

Result<Text> in_config_map(const YamlMap& root, const Text& whole) {
  const YamlMap data = root.map("data");
  if (!data.has(kPolicyKey)) {
    return fail(ErrorKind::kInvalid, whole.name + ": this is a ConfigMap without the key " +
                                         std::string(kPolicyKey) + " in its data");
  }
  Text inner{.name = whole.name + ", key " + std::string(kPolicyKey) + " of the ConfigMap",
             .text = {}};
  data.read(kPolicyKey, inner.text);
  return inner;
}

std::size_t indent_of(std::string_view line) {
  const auto first = line.find_first_not_of(' ');
  return first == std::string_view::npos || line[first] == '#' ? std::string_view::npos : first;
}

// Returns the mapping below `remediator.policy` of values in block style, with blank lines before
// it to keep the line numbers of the file. Nullopt for other styles.
std::optional<std::string> policy_of_values(const std::string& values) {
  std::istringstream lines(values);
  std::string policy;
  bool is_in_remediator = false;
  std::optional<std::size_t> key_indent;  // of `policy:`
  for (std::string line; std::getline(lines, line); policy += '\n') {
    const std::size_t indent = indent_of(line);
    const bool is_text = indent != std::string_view::npos;  // not blank, and no comment
    if (key_indent && is_text && indent <= *key_indent) return policy;
    if (key_indent) {
      policy += line;
      continue;
    }
    if (indent == 0) is_in_remediator = line.starts_with("remediator:");
    constexpr std::string_view kKey = "policy:";
    if (!is_in_remediator || !is_text || !line.substr(indent).starts_with(kKey)) continue;
    key_indent = indent;
    policy += std::string(indent + kKey.size(), ' ') + line.substr(indent + kKey.size());
  }
  return key_indent ? std::optional(policy) : std::nullopt;
}

Result<Text> in_values(const Text& whole) {
  auto policy = policy_of_values(whole.text);
  if (policy)
    return Text{.name = whole.name + ", key remediator.policy of the Helm values",
                .text = *std::move(policy),
                .is_of_values = true};
  return fail(ErrorKind::kInvalid, whole.name +
                                       ": these Helm values have no remediator.policy in block "
                                       "style: write the policy to a file of its own");
}

Result<Text> find_policy(Text whole) {
  const auto file = YamlFile::parse(whole.text, whole.name);
  if (!file) return std::unexpected(file.error());
  const YamlMap root = file->root();
  std::string kind;
  root.read("kind", kind);
  if (kind == "ConfigMap") return in_config_map(root, whole);
  if (root.has("remediator")) return in_values(whole);
  return whole;
}

}  // namespace

Result<GivenPolicy> read_given_policy(const CommandFlags& flags) {
  auto text = read_text(flags.policy_file);
  if (text) text = find_policy(*std::move(text));
  if (!text) return std::unexpected(text.error());
  const auto file = YamlFile::parse(text->text, text->name);
  if (!file) return std::unexpected(file.error());
  auto policy = load_policy(*file, flags.mode);
  if (!policy) return std::unexpected(policy.error());
  return GivenPolicy{.policy = *std::move(policy),
                     .name = std::move(text->name),
                     .is_empty = file->root().entries().empty(),
                     .is_of_values = text->is_of_values};
}

}  // namespace gpuward::remediator
