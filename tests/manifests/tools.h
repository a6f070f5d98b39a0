// helm and kubectl on the files in manifests/ and kustomize/, as a user runs them. Used by the
// tests of this folder and of tests/release.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace gpuward::manifests {

// Why a test of the chart cannot run here; empty if it can. For GPUWARD_REQUIRE.
[[nodiscard]] std::string why_no_helm();
[[nodiscard]] std::string why_no_kubectl();

// A path of the tree: "manifests/chart/gpuward".
[[nodiscard]] std::filesystem::path tree(const std::string& path);
// A file of the tree; if it cannot be read, an empty text and a failure of the test.
[[nodiscard]] std::string text_of(const std::string& path);

// An exit code other than 0 is a value; if helm could not be run, the test fails.
[[nodiscard]] support::Process::Outcome helm(std::vector<std::string> arguments);
[[nodiscard]] support::Process::Outcome kubectl(std::vector<std::string> arguments);
// Runs manifests/chart/fill and manifests/chart/render into a folder, the second with a file of
// values, and only with the named templates, if there are any.
[[nodiscard]] support::Process::Outcome fill(const std::filesystem::path& folder);
[[nodiscard]] support::Process::Outcome render(const std::filesystem::path& folder,
                                               const std::filesystem::path& values,
                                               const std::vector<std::string>& templates = {});

// The PATH of a program that calls helm.
[[nodiscard]] std::string path_with_helm();

// helm's argument with the values that the chart needs without a cluster.
[[nodiscard]] std::string offline();

// The chart rendered with these additional arguments, and an overlay: YAML of several documents.
[[nodiscard]] std::string chart(std::vector<std::string> arguments = {});
[[nodiscard]] std::string overlay(const std::string& name);
// The notes that a user gets after an install with these arguments.
[[nodiscard]] std::string notes(std::vector<std::string> arguments = {});

// The text under `key: |` of the first document that has `name: NAME` and that key, without its
// indentation and with one line end.
[[nodiscard]] std::string file_in(const std::string& documents, const std::string& name,
                                  const std::string& key);

// The documents of a YAML text.
[[nodiscard]] std::vector<std::string> documents_of(const std::string& documents);

// The steps of a policy at a severity, from `gpuwardctl policy explain`.
[[nodiscard]] std::string steps_explained(const std::string& policy, const std::string& severity,
                                          std::vector<std::string> arguments = {});

}  // namespace gpuward::manifests
