// The facts that nvml_facts.py printed, and the declarations of gpuward and its fake, in one form
// so that they can be compared. Used by the tests of this folder.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpuward::abi {

struct Place {
  std::size_t offset = 0, bytes = 0;
  bool operator==(const Place&) const = default;
};

struct Structure {
  std::size_t bytes = 0;
  std::vector<Place> members;  // in the order of declaration
  bool operator==(const Structure&) const = default;
};

using Structures = std::map<std::string, Structure>;
using Constants = std::map<std::string, long long>;

struct Facts {
  std::string package_version;
  Structures structures;
  Constants constants;
  std::set<std::string> functions;
};

[[nodiscard]] Facts parse_facts(const std::string& text);

// From exporter/gpu/nvidia/nvml_abi.h, under the names that NVIDIA uses.
[[nodiscard]] Structures our_structures();
[[nodiscard]] Constants our_constants();
[[nodiscard]] std::set<std::string> our_functions();

// From tests/fakes/nvml/types.h.
[[nodiscard]] Structures fake_structures();
[[nodiscard]] Constants fake_constants();

}  // namespace gpuward::abi

// A Place of a member; for the tables in ours.cpp and fakes.cpp.
#define GPUWARD_PLACE(structure, member) \
  Place { offsetof(structure, member), sizeof(structure::member) }
