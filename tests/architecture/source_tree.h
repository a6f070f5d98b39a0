// The repository as the architecture rules see it: files with their includes and their code without
// comments. Used by the rules in this folder and by their tests, which make up small trees.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::architecture {

struct Include {
  std::size_t line = 0;
  std::string target;   // the text between the quotes or angle brackets
  bool quoted = false;  // "ours", as opposed to <theirs>
};

struct SourceFile {
  std::string path;  // from the root, with `/`
  std::string text;
  std::string code;  // of C++ sources: comments and literals blanked, line ends kept
  std::vector<Include> includes;

  [[nodiscard]] bool is_header() const { return path.ends_with(".h"); }
  [[nodiscard]] bool is_cpp() const { return is_header() || path.ends_with(".cpp"); }
  // `exporter/checks` of `exporter/checks/xid_check.cpp`; empty at the root.
  [[nodiscard]] std::string_view folder() const;
  // `xid_check`
  [[nodiscard]] std::string_view stem() const;
  // Whether it lies in `folder` or below.
  [[nodiscard]] bool is_in(std::string_view folder) const;
  // Part of the shipped code: core, exporter, remediator.
  [[nodiscard]] bool is_product() const;
};

struct SourceTree {
  std::vector<SourceFile> files;
  std::vector<std::string> programs;  // paths of ELF files: programs, libraries, objects
};

// Every text file and program below `root`, sorted by path, without .git, build folders and caches.
[[nodiscard]] SourceTree read_source_tree(const std::filesystem::path& root);

// Whether `path` is `folder` or lies below it.
[[nodiscard]] bool lies_in(std::string_view path, std::string_view folder);

// `code` with comments, strings and characters turned into blanks.
[[nodiscard]] std::string blank_comments_and_literals(std::string_view code);

// The number, from 1, of the line that holds the byte at `offset`.
[[nodiscard]] std::size_t line_at(std::string_view text, std::size_t offset);

}  // namespace gpuward::architecture
