// The architecture rules, each a pure function from a tree to the violations in it. To add one:
// write it, put it into all_rules(), and prove on a made-up tree that it finds a violation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/source_tree.h"

namespace gpuward::architecture {

struct Violation {
  std::string path;
  std::size_t line = 0;  // 0: the file or folder as a whole
  std::string message;

  bool operator==(const Violation&) const = default;
};
using Violations = std::vector<Violation>;

struct Rule {
  std::string_view name;
  Violations (*check)(const SourceTree& tree);
};

// Imports (imports.cpp).
[[nodiscard]] Violations imports_point_one_way(const SourceTree& tree);
[[nodiscard]] Violations folders_form_no_cycle(const SourceTree& tree);
[[nodiscard]] Violations own_includes_are_rooted(const SourceTree& tree);
[[nodiscard]] Violations libraries_have_one_door(const SourceTree& tree);
[[nodiscard]] Violations json_stays_out_of_seams(const SourceTree& tree);

// The folders of the remediator (rooms.cpp).
[[nodiscard]] Violations rooms_are_few(const SourceTree& tree);

// Code (code.cpp).
[[nodiscard]] Violations time_comes_from_the_clock(const SourceTree& tree);
[[nodiscard]] Violations decisions_are_pure(const SourceTree& tree);
[[nodiscard]] Violations threads_have_owners(const SourceTree& tree);
[[nodiscard]] Violations plug_ins_stand_in_their_table(const SourceTree& tree);

// Files and names (words.cpp).
[[nodiscard]] Violations roots_are_small(const SourceTree& tree);
[[nodiscard]] Violations names_say_something(const SourceTree& tree);
[[nodiscard]] Violations headers_say_what_they_are_for(const SourceTree& tree);
[[nodiscard]] Violations nothing_is_left_to_do(const SourceTree& tree);
[[nodiscard]] Violations programs_stay_in_build(const SourceTree& tree);
[[nodiscard]] Violations texts_name_no_machine_or_registry(const SourceTree& tree);

// docs/contracts.md (contracts.cpp).
[[nodiscard]] Violations contracts_have_tests(const SourceTree& tree);

// docs/architecture.md (walks.cpp).
[[nodiscard]] Violations folders_are_in_the_map(const SourceTree& tree);
[[nodiscard]] Violations walks_lead_from_file_to_file(const SourceTree& tree);
[[nodiscard]] Violations walks_are_short(const SourceTree& tree);

[[nodiscard]] std::span<const Rule> all_rules();

}  // namespace gpuward::architecture
