#include "exporter/commands/collect_evidence_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "core/command_line/client_file_options.h"
#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "core/upload/upload.h"
#include "exporter/commands/findings_command.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"
#include "exporter/evidence/archive.h"
#include "exporter/evidence/collect.h"
#include "exporter/evidence/folder.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kEvidenceExamples = {
    Example{"collect-evidence",
            "gpuward-exporter collect-evidence --remediation gpu-01-ab-1\n"
            "gpuward-exporter collect-evidence --remediation gpu-01-ab-1 "
            "--upload s3://evidence/prod?region=eu-west-1\n"
            "gpuward-exporter collect-evidence --remediation gpu-01-ab-1 "
            "--upload https://files.example/gpu/ --upload.bearer-token-file /etc/upload/token"}};
constexpr const char* kEnding = ".tar.gz";
// The part that the remediator keeps in its record.
constexpr std::size_t kLongestLine = 1024;
constexpr std::size_t kLongestFault = 250;
constexpr DurationLimits kProgramLimits{std::chrono::seconds(1), std::chrono::hours(1)};

// Checks the files before anything is collected.
Status check_files(const EvidenceWishes& wishes) {
  const auto* url = wishes.upload ? std::get_if<HttpPlace>(&*wishes.upload) : nullptr;
  return url == nullptr ? Status() : http::check_plain_http(wishes.files, url->url);
}

Status upload_to(const UploadTarget& place, const std::string& content,
                 const EvidenceWishes& wishes, const EvidenceParts& parts) {
  if (parts.stop.stop_requested()) return fail(ErrorKind::kCancelled, "stopped before");
  const auto client = http::AuthorizedClient::open(wishes.files);
  if (!client) return std::unexpected(client.error());
  http::ClientTls tls;
  tls.ca_file = wishes.files.ca_file.string();
  http::CurlClient for_aws(tls);
  aws::AwsClient aws(for_aws, parts.aws, parts.clock);
  return upload(place, content, wishes.upload_timeout,
                {.http = **client, .aws = aws, .clock = parts.clock, .stop = parts.stop});
}

// A collected program may write down its environment, which must not include the AWS keys.
std::map<std::string, std::string> without_keys(const aws::AwsEnvironment& environment) {
  std::map<std::string, std::string> hidden;
  for (const auto& [name, value] : environment.variables)
    if (name.starts_with("AWS_")) hidden.emplace(name, "");
  return hidden;
}

EvidenceLimits limits_of(const EvidenceWishes& wishes) {
  return {.files = static_cast<std::size_t>(wishes.keep_files),
          .bytes = static_cast<std::uintmax_t>(wishes.keep_mib) << 20U};
}

EvidenceFile findings_of(const Flags& flags) {
  std::ostringstream text;
  static_cast<void>(run_list_findings(flags.state_path, OutputFormat::kJson, text));
  return {"findings.json", text.str()};
}

EvidenceFile summary_of(const Flags& flags, const EvidenceWishes& wishes, Clock::Wall now,
                        const std::string& lines) {
  return {"summary.txt", "Remediation " + wishes.remediation + "\nnode " + node_name(flags) +
                             "\ncollected at " + to_rfc3339(now) +
                             " by gpuward " GPUWARD_VERSION "\n\n" + lines};
}

std::string fault_text(const Error& error) { return to_valid_utf8(error.message, kLongestFault); }

// Writes in place, because the file is a mount and a rename onto it fails.
void say(const std::string& line, const std::filesystem::path& termination_log, std::ostream& out) {
  out << line << "\n" << std::flush;
  if (termination_log.empty()) return;
  std::ofstream file(termination_log, std::ios::binary | std::ios::trunc);
  file << line << std::flush;
}

std::string size_text(std::size_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; }

// Returns the places of the evidence, the one that outlives the machine first.
std::string line_of(const std::optional<std::pair<UploadTarget, Status>>& taken,
                    const Result<std::filesystem::path>& kept) {
  std::string line;
  if (taken && taken->second) line = to_text(taken->first);
  if (kept) line += (line.empty() ? "" : ", and ") + ("on the node in " + kept->string());
  if (line.empty()) line = "the evidence is lost";
  if (taken && !taken->second) {
    line += "; not uploaded to " + to_text(taken->first) + ": " + fault_text(taken->second.error());
  }
  return kept ? line : line + "; not kept on the node: " + fault_text(kept.error());
}

void add_upload(CLI::App& command, EvidenceWishes& wishes) {
  command
      .add_option_function<std::string>(
          "--upload",
          [&wishes](const std::string& text) {
            auto target = parse_upload_target(text);
            if (!target) throw CLI::ValidationError("--upload", target.error().message);
            wishes.upload = *std::move(target);
          },
          "Where to upload the evidence as well: s3://bucket/prefix?region=REGION, "
          "https://host/path/ (by PUT), or a mounted folder")
      ->envname("EVIDENCE_UPLOAD");
  add_duration_option(command, "--upload.timeout", wishes.upload_timeout, kProgramLimits,
                      "Time limit of the upload, 1s to 1h");
  add_client_file_options(command, "--upload", wishes.files);
}

void add_keep(CLI::App& command, EvidenceWishes& wishes) {
  command
      .add_option("--keep.files", wishes.keep_files,
                  "Maximum number of files on the node; the oldest ones are removed")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--keep.mib", wishes.keep_mib, "Maximum size of all these files, in MiB")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

}  // namespace

void add_collect_evidence_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<EvidenceWishes>();
  CLI::App* command = app.add_subcommand("collect-evidence",
                                         "Collect the evidence that a restart destroys, save it "
                                         "below --state.path, and optionally upload it");
  command->fallthrough();
  command
      ->add_option("--remediation", wishes->remediation,
                   "Name of the Remediation; also the name of the file; required")
      ->envname("REMEDIATION");
  add_duration_option(*command, "--collect.timeout", wishes->collect_timeout, kProgramLimits,
                      "Time limit of all programs together, 1s to 1h");
  add_upload(*command, *wishes);
  add_keep(*command, *wishes);
  command->add_option(
      "--termination-log", wishes->termination_log,
      "File for the line that says where the evidence is: the container's terminationMessagePath");
  add_examples(app, kEvidenceExamples);
  commands.emplace_back(command, [wishes](const Flags& flags) {
    aws::AwsEnvironment environment = aws::read_aws_environment();
    return until_signal([&](const std::stop_token& stop) {
      SystemClock clock;
      return run_collect_evidence(
          flags, *wishes, {.aws = std::move(environment), .clock = clock, .stop = stop}, std::cout);
    });
  });
}

int run_collect_evidence(const Flags& flags, const EvidenceWishes& wishes,
                         const EvidenceParts& parts, std::ostream& out) {
  const Clock::Wall now = parts.clock.wall();
  const auto name = evidence_name(wishes.remediation, now);
  if (!name) return complain(name.error());
  if (const auto fits = check_files(wishes); !fits) return complain(fits.error());

  Collected collected = collect(parts.collectors, {.proc = flags.host.proc,
                                                   .environment = without_keys(parts.aws),
                                                   .timeout = wishes.collect_timeout,
                                                   .clock = parts.clock,
                                                   .stop = parts.stop});
  std::vector<EvidenceFile> files = {summary_of(flags, wishes, now, collected.summary),
                                     findings_of(flags)};
  std::ranges::move(collected.files, std::back_inserter(files));
  const auto packed = pack(*name, files, now);
  if (!packed) return complain(packed.error());

  const auto kept =
      save_evidence(flags.state_path / "evidence", *name + kEnding, *packed, limits_of(wishes));
  std::optional<std::pair<UploadTarget, Status>> taken;
  if (wishes.upload) {
    const UploadTarget place = below(*wishes.upload, *name + kEnding);
    taken.emplace(place, upload_to(place, *packed, wishes, parts));
  }
  std::string line = line_of(taken, kept) + " (" + size_text(packed->size());
  if (!collected.incomplete.empty())
    line += "; incomplete: " + list_first(collected.incomplete, collected.incomplete.size());
  say(to_valid_utf8(line + ")", kLongestLine), wishes.termination_log, out);
  return kept || (taken && taken->second) ? kDone : kFailed;
}

}  // namespace gpuward::exporter
