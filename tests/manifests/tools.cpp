#include "tests/manifests/tools.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/support/neighbours.h"
#include "tests/support/temp_dir.h"

namespace gpuward::manifests {
namespace {

using support::Process;

std::filesystem::path helm_program() {
  return support::find_program((support::folder_of(support::kHelm) / "helm").string());
}

Process::Outcome run(support::ProcessOptions options) {
  auto outcome = Process::run(std::move(options));
  if (outcome) return *std::move(outcome);
  ADD_FAILURE() << outcome.error().message;
  return {.exit_code = -1, .output = {}, .error_output = {}};
}

// From the `---` before `at` to the one after it.
std::string document_around(const std::string& documents, std::size_t at) {
  const auto before = documents.rfind("\n---", at);
  const auto begin = before == std::string::npos ? 0 : before;
  return documents.substr(begin, documents.find("\n---", at) - begin);
}

std::string indented_lines(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && (line.empty() || line.starts_with("    "));)
    out += (line.empty() ? line : line.substr(4)) + "\n";
  return out;
}

}  // namespace

std::string why_no_helm() {
  return helm_program().empty() ? "no pinned helm in the cache: `.ci/run` builds one" : "";
}

std::string why_no_kubectl() {
  return support::find_program("kubectl").empty() ? "no kubectl in the cache: `.ci/run` builds one"
                                                  : "";
}

std::filesystem::path tree(const std::string& path) {
  return std::filesystem::path(GPUWARD_SOURCE_DIR) / path;
}

std::string text_of(const std::string& path) {
  const auto text = read_file(tree(path));
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

Process::Outcome helm(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), helm_program().string());
  return run({.argv = std::move(arguments)});
}

Process::Outcome kubectl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "kubectl");
  return run({.argv = std::move(arguments)});
}

Process::Outcome fill(const std::filesystem::path& folder) {
  return run({.argv = {tree("manifests/chart/fill").string(), folder.string()}});
}

std::string path_with_helm() {
  const char* const path = std::getenv("PATH");
  return helm_program().parent_path().string() + ":" + (path == nullptr ? "/usr/bin:/bin" : path);
}

Process::Outcome render(const std::filesystem::path& folder, const std::filesystem::path& values,
                        const std::vector<std::string>& templates) {
  std::vector<std::string> argv = {tree("manifests/chart/render").string(), folder.string(),
                                   values.string()};
  argv.insert(argv.end(), templates.begin(), templates.end());
  return run({.argv = std::move(argv), .env = {{"PATH", path_with_helm()}}});
}

std::string offline() { return "--values=" + tree("tests/manifests/offline.yaml").string(); }

std::string chart(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"template", "gpuward", tree("manifests/chart/gpuward").string(),
                    "--namespace=gpuward", offline()});
  const auto outcome = helm(std::move(arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  return outcome.output;
}

// `helm template` prints no notes, and `helm install` needs a cluster: a copy of the chart has them
// as a ConfigMap.
std::string notes(std::vector<std::string> arguments) {
  const support::TempDir folder;
  std::filesystem::copy(tree("manifests/chart/gpuward"), folder.path(),
                        std::filesystem::copy_options::recursive);
  folder.write("templates/notes.yaml",
               "{{- define \"notes\" }}" + text_of("manifests/chart/gpuward/templates/NOTES.txt") +
                   "{{ end }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\n"
                   "data:\n  notes.txt: |\n    {{- include \"notes\" . | nindent 4 }}\n");
  arguments.insert(arguments.begin(),
                   {"template", "gpuward", folder.path().string(), "--namespace=gpuward", offline(),
                    "--show-only=templates/notes.yaml"});
  const auto outcome = helm(std::move(arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  return file_in(outcome.output, "notes", "notes.txt");
}

std::string overlay(const std::string& name) {
  const auto outcome = kubectl({"kustomize", tree("kustomize/" + name).string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  return outcome.output;
}

std::string file_in(const std::string& documents, const std::string& name, const std::string& key) {
  const std::string head = "\n  " + key + ": |";
  for (auto at = documents.find(head); at != std::string::npos; at = documents.find(head, at + 1)) {
    const std::string document = document_around(documents, at);
    if (document.find("\n  name: " + name + "\n") == std::string::npos) continue;
    std::string text = indented_lines(documents.substr(documents.find('\n', at + 1) + 1));
    text.erase(text.find_last_not_of('\n') + 1);
    return text + "\n";
  }
  ADD_FAILURE() << "no " << key << " in " << name;
  return {};
}

std::vector<std::string> documents_of(const std::string& rendered) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < rendered.size();) {
    const auto end = std::min(rendered.find("\n---\n", at), rendered.size());
    out.push_back(rendered.substr(at, end - at) + "\n");
    at = end + 5;
  }
  return out;
}

std::string steps_explained(const std::string& policy, const std::string& severity,
                            std::vector<std::string> arguments) {
  const support::TempDir folder;
  const auto file = folder.write("policy.yaml", policy);
  arguments.insert(arguments.begin(), {GPUWARD_BIN_DIR "/gpuwardctl", "policy", "explain",
                                       file.string(), "--severity=" + severity});
  const auto outcome = run({.argv = std::move(arguments)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.error_output;
  const auto steps = outcome.output.find("severity " + severity);
  return steps == std::string::npos
             ? std::string()
             : outcome.output.substr(steps, outcome.output.find("\n\n", steps) - steps);
}

}  // namespace gpuward::manifests
