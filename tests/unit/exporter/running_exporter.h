// The real gpuward-exporter as a child process, on a free port of loopback with a folder of its
// own. Used by the process tests, which see the program as a node would.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {

class RunningExporter {
 public:
  RunningExporter();

  // Returns the path of a file in the exporter's folder. At the start the log is empty; there are
  // eight GPUs, the first at 0000:4e:00.
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::filesystem::path log() const { return file("kernel.log"); }
  void write(const std::string& name, const std::string& content) const;
  // Appends a line with its end. A message becomes a current record of /dev/kmsg; a whole record is
  // kept as it is. `priority`: 4 is the kernel's, 12 a program's.
  void append_log(const std::string& line, int priority = 4) const;

  // Starts the program and waits until it serves. `more` follows the usual flags.
  void start(const std::vector<std::string>& more = {});
  // Makes it read this NVML library (and no AMD one) instead of assuming the eight GPUs.
  void use_nvml(std::string library) { nvml_library_ = std::move(library); }
  // Makes it read another log than the file.
  void use_log(std::string path) { log_path_ = std::move(path); }

  [[nodiscard]] support::Process& process() { return *process_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path) const;

  [[nodiscard]] http::ClientResponse get(const std::string& path) const;
  [[nodiscard]] std::string metrics() const { return get("/metrics").body; }
  // Returns the value of the series with exactly that text; empty if there is none.
  [[nodiscard]] std::string value(const std::string& series) const;
  // Returns whether the series gets that value within the deadline of tests.
  [[nodiscard]] bool has(const std::string& series, const std::string& value) const;
  // The same for `text` in its own log. The program writes the log after the fact that it reports.
  [[nodiscard]] bool says(const std::string& text) const;

 private:
  support::TempDir folder_;
  std::string log_path_;
  std::string nvml_library_;
  std::unique_ptr<support::Process> process_;
  int port_ = 0;
};

// The series of an Xid on the first GPU.
[[nodiscard]] std::string xid_series(int code);
[[nodiscard]] std::string xid_line(int code, const std::string& pci = "0000:4e:00");
[[nodiscard]] std::filesystem::path exporter_binary();

}  // namespace gpuward::exporter
