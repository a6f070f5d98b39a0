// helm and kubectl on what lies in manifests/ and kustomize/, as a user runs them. Used by the
// tests of this folder and of tests/release.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace gpuward::manifests {

// Why a test of the chart cannot run here; empty where it can. For GPUWARD_REQUIRE.
[[nodiscard]] std::string why_no_helm();
[[nodiscard]] std::string why_no_kubectl();

// Of the tree: "manifests/chart/gpuward".
[[nodiscard]] std::filesystem::path tree(const std::string& path);
// A file of the tree; an empty text and a failure of the test where it cannot be read.
[[nodiscard]] std::string text_of(const std::string& path);

// An exit code other than 0 is a value; one that could not be run fails the test.
[[nodiscard]] support::Process::Outcome helm(std::vector<std::string> arguments);
[[nodiscard]] support::Process::Outcome kubectl(std::vector<std::string> arguments);
// manifests/chart/fill and manifests/chart/render into a folder, the second with a file of values,
// and only the templates that are named, if any is.
[[nodiscard]] support::Process::Outcome fill(const std::filesystem::path& folder);
[[nodiscard]] support::Process::Outcome render(const std::filesystem::path& folder,
                                               const std::filesystem::path& values,
                                               const std::vector<std::string>& templates = {});

// The PATH of a program that calls helm.
[[nodiscard]] std::string path_with_helm();

// The argument of helm with the values that the chart needs where no cluster is asked.
[[nodiscard]] std::string offline();

// What the chart renders with these arguments more, and an overlay: YAML of several documents.
[[nodiscard]] std::string chart(std::vector<std::string> arguments = {});
[[nodiscard]] std::string overlay(const std::string& name);
// What it tells whoever has installed it with these arguments.
[[nodiscard]] std::string notes(std::vector<std::string> arguments = {});

// The text under `key: |` of the first document that has `name: NAME` and that key, unindented and
// with one line end.
[[nodiscard]] std::string file_in(const std::string& documents, const std::string& name,
                                  const std::string& key);

// YAML of several documents, each alone.
[[nodiscard]] std::vector<std::string> documents_of(const std::string& documents);

// What `gpuwardctl policy explain` says that a policy does at a severity.
[[nodiscard]] std::string steps_explained(const std::string& policy, const std::string& severity,
                                          std::vector<std::string> arguments = {});

}  // namespace gpuward::manifests
