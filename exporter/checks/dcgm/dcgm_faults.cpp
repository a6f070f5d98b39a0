#include "exporter/checks/dcgm/dcgm_faults.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpuward::exporter {
namespace {

// dcgmErrorSeverity_t and dcgmError_t of dcgmlib/dcgm_errors.h, NVIDIA/DCGM v4.6.0 (the severities
// are those of v3.3.9 too).
constexpr int kDcgmNone = 0, kDcgmMonitor = 1, kDcgmIsolate = 2, kDcgmReset = 6;
constexpr int kGraphicsProcesses = 25, kFieldThreshold = 38, kAborted = 47,
              kGpuRecoveryReboot = 126;
// dcgmReturn_t (dcgmlib/dcgm_structs.h), as a shell sees them.
constexpr int kExitNvvsError = 256 - 30, kExitIsolateError = 256 - 51;

struct Judgement {
  Severity severity = Severity::kMonitor;
  ClearedBy cleared_by = ClearedBy::kDiagnostics;
  std::string_view why;
};

Judgement by_severity(int severity) {
  switch (severity) {
    case kDcgmIsolate:
      return {Severity::kIsolate, ClearedBy::kDiagnostics, "DCGM: the GPU should be isolated"};
    case kDcgmReset:
      return {Severity::kReset, ClearedBy::kDiagnostics, "DCGM: drain and reset the GPU"};
    case kDcgmNone:
    case kDcgmMonitor:
      return {Severity::kMonitor, ClearedBy::kDiagnostics, "DCGM: the GPU is usable; monitor it"};
    default:
      return {Severity::kMonitor, ClearedBy::kDiagnostics,
              "DCGM does not say what to do: needs triage"};
  }
}

bool is_of_hardware(const DcgmResult& result) { return result.category != "Deployment"; }

// nvbandwidth fails if the GPU was not idle before it began, which it also finds right after
// DCGM's own burn test (NVIDIA/DCGM issue 272). DCGM calls that a fault to isolate for.
bool is_unmet_condition(const DcgmWarning& warning, const DcgmResult& result) {
  return result.test == "nvbandwidth" && warning.error_id == kFieldThreshold &&
         warning.text.contains("may affect the results");
}

Judgement judge_by_error(const DcgmWarning& warning, const DcgmResult& result, Severity bare_fail) {
  if (is_unmet_condition(warning, result)) {
    return {Severity::kMonitor, ClearedBy::kDiagnostics,
            "the GPU was not idle before the test; this is not a GPU fault"};
  }
  if (warning.error_id == kGraphicsProcesses) {
    return {Severity::kMonitor, ClearedBy::kDiagnostics,
            "another process is using the GPU; this is not a GPU fault"};
  }
  // Persistence mode, page counts near a limit: DCGM continues with such a GPU, and so do we.
  if (result.status != DcgmStatus::kFail) {
    return {Severity::kMonitor, ClearedBy::kDiagnostics,
            "DCGM reported a warning but did not fail the test"};
  }
  if (warning.error_id == kGpuRecoveryReboot)
    return {Severity::kReboot, ClearedBy::kReboot, "DCGM: the node has to be rebooted"};
  // A Fail that explains itself weighs no less than one that does not, unless it speaks of the
  // node's software.
  if (!warning.severity) {
    if (!is_of_hardware(result))
      return {Severity::kMonitor, ClearedBy::kDiagnostics, "a DCGM software test failed"};
    return {bare_fail, ClearedBy::kDiagnostics,
            "the DCGM test failed without reporting a severity"};
  }
  return by_severity(*warning.severity);
}

Judgement judge(const DcgmWarning& warning, const DcgmResult& result,
                const DcgmSeverities& severities) {
  Judgement judgement = judge_by_error(warning, result, severities.bare_fail);
  if (severities.each_fail && result.status == DcgmStatus::kFail)
    judgement.severity = *severities.each_fail;
  return judgement;
}

std::string code_of(const DcgmResult& result, int error_id) {
  std::string code = result.test;
  std::ranges::transform(code, code.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  });
  return error_id == 0 ? code : code + "/" + std::to_string(error_id);
}

class Judge {
 public:
  Judge(DcgmFaults& verdict, const DcgmSeverities& severities)
      : verdict_(verdict), severities_(severities) {}

  void add(const DcgmResult& result) {
    count(result);
    if (result.status == DcgmStatus::kSkip) return;
    if (is_of_hardware(result) && result.gpu) verdict_.tested.insert(*result.gpu);
    for (const DcgmWarning& warning : result.warnings) add(result, warning);
    if (!result.warnings.empty() || result.status == DcgmStatus::kPass) return;
    const bool is_fail = result.status == DcgmStatus::kFail;
    const Severity failed = severities_.each_fail.value_or(severities_.bare_fail);
    keep({result.gpu, code_of(result, 0), is_fail ? failed : Severity::kMonitor,
          ClearedBy::kDiagnostics, line_of(result, is_fail ? "Fail" : "Warn"),
          is_fail ? "the DCGM test failed without giving a reason"
                  : "the DCGM test gave a warning without a reason"});
  }

  // Whether DCGM itself would have had something isolated.
  [[nodiscard]] bool has_isolate() const { return has_isolate_; }

 private:
  void add(const DcgmResult& result, const DcgmWarning& warning) {
    if (warning.error_id == kAborted) verdict_.undecided = "the diagnostic was aborted";
    const bool is_fail = result.status == DcgmStatus::kFail;
    has_isolate_ = has_isolate_ || (is_fail && warning.severity == kDcgmIsolate);
    const Judgement judged = judge(warning, result, severities_);
    keep({warning.gpu, code_of(result, warning.error_id), judged.severity, judged.cleared_by,
          line_of(result, warning.text), std::string(judged.why)});
  }

  static std::string line_of(const DcgmResult& result, const std::string& text) {
    return (result.entity.empty() ? "" : result.entity + ": ") + result.test + ": " + text;
  }

  void count(const DcgmResult& result) {
    switch (result.status) {
      case DcgmStatus::kPass:
        ++verdict_.passed;
        return;
      case DcgmStatus::kWarn:
        ++verdict_.warned;
        return;
      case DcgmStatus::kFail:
        ++verdict_.failed;
        return;
      case DcgmStatus::kSkip:
        ++verdict_.skipped;
        return;
    }
  }

  void keep(DcgmFault fault) {
    const auto same = std::ranges::find_if(verdict_.faults, [&](const DcgmFault& other) {
      return other.gpu == fault.gpu && other.code == fault.code;
    });
    if (same == verdict_.faults.end()) return verdict_.faults.push_back(std::move(fault));
    if (same->severity < fault.severity) *same = std::move(fault);
  }

  DcgmFaults& verdict_;
  const DcgmSeverities& severities_;
  bool has_isolate_ = false;
};

std::string doubt(const DcgmDiagnostic& report, const DcgmFaults& verdict, const Judge& judge,
                  int exit_code) {
  if (!verdict.undecided.empty()) return verdict.undecided;
  if (!report.runtime_error.empty()) return "DCGM: " + report.runtime_error;
  if (!report.riddles.empty()) return "cannot interpret DCGM's report: " + report.riddles[0];
  std::string ended = "dcgmi exited with code " + std::to_string(exit_code);
  if (exit_code == kExitIsolateError && !judge.has_isolate())
    return ended + " (isolate), but its report names nothing to isolate";
  if (exit_code == kExitNvvsError && verdict.failed == 0)
    return ended + " (failed), but its report names no failed test";
  if (exit_code != 0 && exit_code != kExitIsolateError && verdict.failed == 0) return ended;
  return {};
}

}  // namespace

DcgmFaults judge_dcgm_diagnostic(const DcgmDiagnostic& report, int exit_code,
                                 const DcgmSeverities& severities) {
  DcgmFaults verdict;
  Judge judge(verdict, severities);
  for (const DcgmResult& result : report.results) judge.add(result);
  verdict.undecided = doubt(report, verdict, judge, exit_code);
  return verdict;
}

std::optional<std::string> dcgm_refusal(const std::string& runtime_error, int exit_code) {
  struct Refusal {
    int exit_code;  // 256 + the dcgmReturn_t
    std::string_view words, why;
  };
  constexpr Refusal kRefusals[] = {
      {256 - 54, "while DCGM is paused", "DCGM is paused"},
      {256 - 39, "already running", "another diagnostic is running"},
      {256 - 34, "in use", "DCGM says that the GPUs are in use"},
      {256 - 23, "homogeneous group",
       "DCGM can diagnose only GPUs of the same model, but this node has different models"},
      {256 - 6, "recommended driver", "DCGM does not support the driver or the GPUs here"},
      {256 - 21, "connect to host engine", "dcgmi lost its connection to nv-hostengine"},
  };
  for (const Refusal& refusal : kRefusals) {
    if (exit_code == refusal.exit_code || runtime_error.contains(refusal.words)) {
      return std::string(refusal.why) + (runtime_error.empty() ? "" : ": " + runtime_error);
    }
  }
  return std::nullopt;
}

}  // namespace gpuward::exporter
