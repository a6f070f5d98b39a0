#include "exporter/evidence/collect.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/evidence/tools.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// The output of dmesg for the largest ring buffer that kernels can have built in.
constexpr std::size_t kMostOfTail = 64U << 20U;
constexpr std::size_t kMostOfReportsWords = 1U << 20U;
constexpr std::chrono::seconds kGrace{2};
constexpr std::size_t kLongestWords = 400;
// Limits the file, so that a report cannot fill the disk. In blocks of 512 bytes, as sh(1) counts.
constexpr const char* kWithinBytes = R"(ulimit -f "$1" && shift && exec "$@")";
constexpr std::size_t kLimitBlock = 512;

struct Outcome {
  std::string content;
  std::string fault;  // empty: no fault
};

// A new folder in the temporary folder of a root, deleted with this object.
class ReportFolder {
 public:
  explicit ReportFolder(const fs::path& root) {
    std::string name = (root / "tmp/gpuward-evidence-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ReportFolder() {
    std::error_code ignored;
    if (is_made()) fs::remove_all(path_, ignored);
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  [[nodiscard]] bool is_made() const { return !path_.empty(); }
  [[nodiscard]] fs::path seen_here() const { return path_ / "report.log"; }
  [[nodiscard]] fs::path seen_within() const {
    return fs::path("/tmp") / path_.filename() / "report.log";
  }

 private:
  fs::path path_;
};

class Run {
 public:
  Run(const Collector& collector, EvidenceTool tool, std::chrono::milliseconds timeout,
      const CollectParts& parts)
      : collector_(collector), tool_(std::move(tool)), timeout_(timeout), parts_(parts) {}

  [[nodiscard]] Outcome take() const {
    return collector_.part == EvidencePart::kReport ? take_report() : take_output();
  }

 private:
  [[nodiscard]] std::vector<std::string> arguments() const {
    return {collector_.arguments.begin(), collector_.arguments.end()};
  }

  [[nodiscard]] Result<ChildResult> start(std::vector<std::string> command,
                                          std::size_t max_bytes) const {
    ChildCommand child;
    child.program = std::move(command.front());
    child.arguments.assign(command.begin() + 1, command.end());
    child.search = {"/usr/sbin"};  // chroot, even if a service's PATH lacks it
    child.environment = parts_.environment;
    child.max_output_bytes = max_bytes;
    child.timeout = timeout_;
    child.grace = kGrace;
    child.stop = parts_.stop;
    return run_child(child, parts_.clock);
  }

  [[nodiscard]] Outcome take_output() const {
    const bool is_tail = collector_.part == EvidencePart::kTail;
    auto ended =
        start(command_of(tool_, arguments()), is_tail ? kMostOfTail : collector_.max_bytes);
    if (!ended) return {.content = ended.error().message + "\n", .fault = ended.error().message};
    std::string& text = ended->output;
    if (text.size() > collector_.max_bytes) text.erase(0, text.size() - collector_.max_bytes);
    if (ended->exit_code == 0) return {.content = std::move(text), .fault = {}};
    return {.content = text + "\n" + how_it_ended(*ended) + "\n" + ended->complaint,
            .fault = fault_of(*ended)};
  }

  [[nodiscard]] Outcome take_report() const {
    const ReportFolder folder(tool_.root);
    if (!folder.is_made())
      return {.content = {}, .fault = "cannot create a folder for the report in /tmp"};
    const auto ended = start(report_command(folder.seen_within()), kMostOfReportsWords);
    const std::string fault = !ended                  ? ended.error().message
                              : ended->exit_code != 0 ? fault_of(*ended)
                                                      : std::string();
    // Keeps a partial report of a program that was ended.
    for (const char* ending : {".gz", ""}) {
      auto report = read_file(folder.seen_here().string() + ending, collector_.max_bytes);
      if (report) return {.content = *std::move(report), .fault = fault};
    }
    return {.content = {}, .fault = fault.empty() ? "the program wrote nothing" : fault};
  }

  // Runs the shell inside the chroot, so that it is the shell of that root.
  [[nodiscard]] std::vector<std::string> report_command(const fs::path& report) const {
    std::vector<std::string> bounded = {"-c", kWithinBytes, "sh",
                                        std::to_string(collector_.max_bytes / kLimitBlock),
                                        tool_.within.string()};
    for (const std::string& argument : arguments()) bounded.push_back(argument);
    bounded.push_back(report.string());
    return command_of({tool_.root, "/bin/sh"}, bounded);
  }

  [[nodiscard]] static std::string fault_of(const ChildResult& ended) {
    return how_it_ended(ended) + ": " + to_valid_utf8(trim(ended.complaint), kLongestWords);
  }

  const Collector& collector_;
  const EvidenceTool tool_;
  const std::chrono::milliseconds timeout_;
  const CollectParts& parts_;
};

std::string line_of(const Collector& collector, std::string_view said) {
  return std::string(collector.file) + ": " + std::string(said) + "\n";
}

std::string took(std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

Collected collect(std::span<const Collector> collectors, const CollectParts& parts) {
  using std::chrono::milliseconds;
  Collected all;
  const auto deadline = parts.clock.steady() + parts.timeout;
  for (const Collector& collector : collectors) {
    const auto tool = find_tool(std::string(collector.program), parts.proc);
    if (!tool) {
      all.summary += line_of(collector, "there is no " + std::string(collector.program));
      continue;
    }
    const auto begun = parts.clock.steady();
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - begun);
    if (left.count() <= 0 || parts.stop.stop_requested()) {
      all.incomplete.emplace_back(collector.file);
      all.summary += line_of(collector, "not begun: no time was left");
      continue;
    }
    Outcome outcome =
        Run(collector, *tool, std::min<milliseconds>(collector.timeout, left), parts).take();
    const auto time = std::chrono::duration_cast<milliseconds>(parts.clock.steady() - begun);
    all.summary +=
        line_of(collector, outcome.fault.empty() ? "complete, after " + took(time)
                                                 : outcome.fault + " (after " + took(time) + ")");
    if (!outcome.fault.empty()) all.incomplete.emplace_back(collector.file);
    if (!outcome.content.empty())
      all.files.push_back({std::string(collector.file), std::move(outcome.content)});
  }
  return all;
}

}  // namespace gpuward::exporter
