// `gpuward-exporter collect-evidence`: saves what a restart of this node destroys below
// --state.path, and uploads it to a place that outlives the machine. Called by the Job of the step
// collect-evidence.
#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "core/aws/environment.h"
#include "core/upload/target.h"
#include "exporter/config/flags.h"
#include "exporter/evidence/collectors.h"

namespace gpuward::exporter {

struct EvidenceWishes {
  std::string remediation;
  std::optional<UploadTarget> upload;
  http::ClientFiles files;  // CA and credentials for the URL's server
  std::chrono::milliseconds collect_timeout{std::chrono::minutes(3)};
  std::chrono::milliseconds upload_timeout{std::chrono::minutes(1)};
  int keep_files = 20, keep_mib = 512;    // for all evidence on the node
  std::filesystem::path termination_log;  // the container's terminationMessagePath
};

void add_collect_evidence_command(CLI::App& app, Commands& commands);

struct EvidenceParts {
  std::span<const Collector> collectors = all_collectors();
  aws::AwsEnvironment aws;
  Clock& clock;
  std::stop_token stop;
};

// Prints the places of the evidence in one line, on `out` and in the termination log. kDone if the
// evidence is stored in at least one place: a failed upload costs its time-out and is reported in
// the line. kFailed: it is stored nowhere. kWrongUsage.
[[nodiscard]] int run_collect_evidence(const Flags& flags, const EvidenceWishes& wishes,
                                       const EvidenceParts& parts, std::ostream& out);

}  // namespace gpuward::exporter
