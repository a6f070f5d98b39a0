// `gpuward-exporter collect-evidence`: writes down what a restart of this node destroys, keeps it
// below --state.path, and takes it to where it outlives the machine. Called by the Job of the step
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
  http::ClientFiles files;  // what the URL's server is shown
  std::chrono::milliseconds collect_timeout{std::chrono::minutes(3)};
  std::chrono::milliseconds upload_timeout{std::chrono::minutes(1)};
  int keep_files = 20, keep_mib = 512;    // of all evidence on the node
  std::filesystem::path termination_log;  // the container's terminationMessagePath
};

void add_collect_evidence_command(CLI::App& app, Commands& commands);

struct EvidenceParts {
  std::span<const Collector> collectors = all_collectors();
  aws::AwsEnvironment aws;
  Clock& clock;
  std::stop_token stop;
};

// Says in one line where the evidence lies, on `out` and in the termination log. kDone where it
// lies anywhere: an upload that fails costs its time-out and a word in the line. kFailed: it lies
// nowhere. kWrongUsage.
[[nodiscard]] int run_collect_evidence(const Flags& flags, const EvidenceWishes& wishes,
                                       const EvidenceParts& parts, std::ostream& out);

}  // namespace gpuward::exporter
