// Reports of DCGM's diagnostics for tests: recorded ones by file name, and small ones of the two
// shapes, after dcgmi/Diag.cpp v3.3.9 and v4.6.0.
#pragma once

#include <filesystem>
#include <string>

#include "core/runtime/files.h"
#include "exporter/checks/dcgm/dcgm_diagnostic.h"

namespace gpuward::exporter::samples {

[[nodiscard]] inline std::string recorded(const std::string& path) {
  return read_file(std::filesystem::path(GPUWARD_TESTDATA) / path).value();
}

[[nodiscard]] inline DcgmDiagnostic parsed(const std::string& output) {
  return parse_dcgm_diagnostic(output).value();
}

[[nodiscard]] inline std::string warning(int id, int severity, const std::string& text) {
  return R"({"error_category":10,"error_id":)" + std::to_string(id) + R"(,"error_severity":)" +
         std::to_string(severity) + R"(,"warning":")" + text + R"("})";
}

[[nodiscard]] inline std::string v4_result(int gpu, const std::string& status,
                                           const std::string& warnings = "") {
  return R"({"entity_group":"GPU","entity_group_id":1,"entity_id":)" + std::to_string(gpu) +
         R"(,"status":")" + status + R"(","warnings":[)" + warnings + "]}";
}

[[nodiscard]] inline std::string v4(const std::string& test, const std::string& results,
                                    const std::string& summary = "") {
  return R"({"DCGM Diagnostic":{"test_categories":[{"category":"Hardware","tests":[{"name":")" +
         test + R"(","results":[)" + results + "]" +
         (summary.empty() ? "" : R"(,"test_summary":)" + summary) + "}]}]}}";
}

[[nodiscard]] inline std::string v3(const std::string& test, const std::string& results,
                                    const std::string& category = "Hardware") {
  return R"({"DCGM GPU Diagnostic":{"test_categories":[{"category":")" + category +
         R"(","tests":[{"name":")" + test + R"(","results":[)" + results +
         R"(]}]}],"version":"3.3.9"}})";
}

}  // namespace gpuward::exporter::samples
