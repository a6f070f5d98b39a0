// The kinds of jobs that lose pods by a drain, and by what means each is restarted as a whole: one
// row a kind in job_kinds.cpp. Used by the restarter. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::remediator {

enum class RestartBy : std::uint8_t {
  kSuspension,  // its field `suspend`, true and back: none of its pods counts as failed
  kCommand,     // a Command of Volcano with the action RestartJob
  kItself,      // its controller restarts it as a whole without being asked
};

struct JobKind {
  std::string_view word;  // as the drain names it: job_of() in drain/drain_facts.h
  RestartBy by = RestartBy::kSuspension;
  std::string_view group, kind, plural;
  std::array<std::string_view, 2> versions;  // the newer first; the second may be empty
  const char* suspend = "";                  // the field, as a JSON pointer
};

// A job that has lost pods, as the drain has written it down: "JobSet default/train".
struct TornJob {
  std::string word, ns, name;
};
// Nullopt where the text is none.
[[nodiscard]] std::optional<TornJob> parse_torn_job(std::string_view text);

// Null where gpuward knows no means for it.
[[nodiscard]] const JobKind* find_job_kind(std::string_view word);
// By an owner reference; whatever the version.
[[nodiscard]] const JobKind* find_job_kind(std::string_view group, std::string_view kind);

}  // namespace gpuward::remediator
