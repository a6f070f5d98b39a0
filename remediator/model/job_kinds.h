// The kinds of jobs that a drain may take pods from, and how each is restarted as a whole: one row
// a kind in job_kinds.cpp. Used by the restarter. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::remediator {

enum class RestartBy : std::uint8_t {
  // gpuward sets `suspend` to true and back, so that none of the job's pods counts as failed.
  kSuspension,
  kCommand,  // gpuward creates a Command of Volcano with the action RestartJob.
  kItself,   // The job's controller restarts it as a whole, without a request.
};

struct JobKind {
  std::string_view word;  // The drain's name for the kind: job_of() in model/pod_facts.h.
  RestartBy by = RestartBy::kSuspension;
  std::string_view group, kind, plural;
  std::array<std::string_view, 2> versions;  // The newer version first; the second may be empty.
  const char* suspend = "";                  // The field as a JSON pointer.
};

// A job that has lost pods, in the form that the drain records: "JobSet default/train".
struct TornJob {
  std::string word, ns, name;
};
// Parses the text; nullopt if it has another form.
[[nodiscard]] std::optional<TornJob> parse_torn_job(std::string_view text);

// Returns the kind; nullptr if gpuward cannot restart it.
[[nodiscard]] const JobKind* find_job_kind(std::string_view word);
// Finds the kind of an owner reference, in any version.
[[nodiscard]] const JobKind* find_job_kind(std::string_view group, std::string_view kind);

}  // namespace gpuward::remediator
