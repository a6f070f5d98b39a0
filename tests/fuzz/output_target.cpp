// The parsers of other people's program outputs (dcgmi, all_reduce_perf, fi_info, fi_pingpong,
// ib_write_bw), with the same drivers as the kernel-log reader.
#include <cmath>
#include <optional>

#include "core/runtime/text.h"
#include "exporter/checks/dcgm/dcgm_diagnostic.h"
#include "exporter/checks/dcgm/dcgm_faults.h"
#include "exporter/checks/dcgm/dcgm_outcome.h"
#include "exporter/checks/efa/efa_loopback_report.h"
#include "exporter/checks/nccl/nccl_measurements.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

using namespace gpuward::exporter;

void hold_text(const std::string& text) {
  hold(is_valid_utf8(text) && text.size() <= 8192, "text is valid and bounded");
}

void check_verdict(const DcgmDiagnostic& report, int exit_code) {
  const DcgmFaults verdict = judge_dcgm_diagnostic(report, exit_code, {});
  for (const DcgmFault& fault : verdict.faults) {
    hold(fault.severity != Severity::kNone && !fault.why.empty(), "a fault has its reasons");
    hold_text(fault.line);
    hold_text(fault.code);
  }
  hold(verdict.failed + verdict.warned == 0 || !verdict.faults.empty(), "a failure is a fault");
  const CheckOutcome outcome = dcgm_outcome(report, verdict, {});
  const bool is_pass = outcome.kind == CheckOutcome::Kind::kDone && outcome.findings.empty();
  hold(!is_pass || (verdict.failed + verdict.warned == 0 && !verdict.tested.empty()),
       "only what was tested and did not fail passes");
  hold(!is_pass || exit_code == 0, "what dcgmi fails does not pass");
  hold(!is_pass || (report.runtime_error.empty() && report.riddles.empty()),
       "what cannot be understood does not pass");
}

void check_dcgm(std::string_view input) {
  const auto report = parse_dcgm_diagnostic(input);
  if (!report) {
    hold(!report.error().message.empty(), "an error says why");
    return;
  }
  hold(!report->results.empty() || !report->runtime_error.empty() || !report->riddles.empty(),
       "a report says something");
  for (const DcgmResult& result : report->results) {
    hold(result.gpu.value_or(0) >= 0, "GPUs count from 0");
    hold_text(result.test);
    for (const DcgmWarning& warning : result.warnings) hold_text(warning.text);
  }
  for (const int exit_code : {0, 1, 205, 226}) check_verdict(*report, exit_code);
}

void check_number(const std::optional<double>& number) {
  hold(!number || (std::isfinite(*number) && *number >= 0), "a bandwidth is a number");
}

void check_tables(std::string_view input) {
  const NcclMeasurements nccl = parse_nccl_output(input);
  check_number(nccl.best_bus_bandwidth);
  hold(nccl.rows != 0 || nccl.best_bus_bandwidth == 0, "a bandwidth stands in a row");
  hold(nccl.complaint.size() <= 256 && is_valid_utf8(nccl.complaint), "a complaint is text");
  check_number(pingpong_gbits(input));
  check_number(write_bandwidth_gbits(input));
  for (const std::string& domain : fabric_domains(input, "efa")) {
    hold(!domain.empty() && device_of_domain(domain).size() <= domain.size(),
         "a domain has a name");
  }
}

}  // namespace

void check_input(std::string_view input) {
  check_dcgm(input);
  check_tables(input);
}

}  // namespace gpuward::fuzz
