// A line of the kernel as it may leave the cluster: printable ASCII, without what names a machine,
// a process, a person or a secret, and short. Two lines that differ in such things only are the
// same question. Pure; used by triage/triage.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuward::remediator {

// What a line is cut to before anything else is done with it, in bytes.
inline constexpr std::size_t kLongestLine = 2'048;

// `line` with or without the prefixes of a log, any bytes. Keys and tokens become `[secret]`,
// addresses, ids, pids and long numbers `#`; at most `most` characters. What is a secret is told by
// its name or its look: one that has neither stays.
[[nodiscard]] std::string question_of(std::string_view line, std::size_t most);

}  // namespace gpuward::remediator
