// A kernel line in the form in which it may leave the cluster: printable ASCII, short, and without
// names of machines, processes, people or secrets. Two lines that differ only in those are the same
// question. Pure; used by inbox/triage/triage.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuward::remediator {

// Lines are cut to this length first, in bytes.
inline constexpr std::size_t kLongestLine = 2'048;

// `line` may have the prefixes of a log and any bytes. Keys and tokens become `[secret]`;
// addresses, IDs, PIDs and long numbers become `#`. Returns at most `most` characters. A secret is
// recognised by its name or its form: one that has neither stays.
[[nodiscard]] std::string question_of(std::string_view line, std::size_t most);

}  // namespace gpuward::remediator
