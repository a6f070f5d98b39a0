#include "tests/unit/exporter/running_exporter.h"

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

std::string eight_gpus() {
  std::string yaml = "gpus:\n";
  for (int i = 0; i < 8; ++i) {
    const char bus = "456789ab"[i];
    yaml += "  - {uuid: GPU-" + std::to_string(i) + ", pci: \"0000:" + bus +
            "e:00.0\", name: NVIDIA H200, serial: \"" + std::to_string(1000 + i) + "\"}\n";
  }
  return yaml;
}

}  // namespace

RunningExporter::RunningExporter() : log_path_(log().string()) {
  write("kernel.log", "");
  write("gpus.yaml", eight_gpus());
}

void RunningExporter::write(const std::string& name, const std::string& content) const {
  folder_.write(name, content);
}

void RunningExporter::append_log(const std::string& line, int priority) const {
  const bool has_header = line.contains(',') && line.front() >= '0' && line.front() <= '9';
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::string since_boot = std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
  std::ofstream(log(), std::ios::app | std::ios::binary)
      << (has_header ? "" : std::to_string(priority) + ",1," + since_boot + ",-;") << line << "\n"
      << std::flush;
}

void RunningExporter::start(const std::vector<std::string>& more) {
  std::vector<std::string> argv = {exporter_binary().string(), "--web.listen-address=127.0.0.1:0",
                                   "--kernel-log.path=" + log_path_,
                                   "--state.path=" + file("state").string()};
  if (nvml_library_.empty()) {
    argv.push_back("--gpu.simulate=" + file("gpus.yaml").string());
  } else {
    argv.insert(argv.end(), {"--gpu.nvml-library=" + nvml_library_,
                             "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                             "--path.sysfs=" + file("sys").string()});
  }
  argv.insert(argv.end(), more.begin(), more.end());
  process_.reset();
  auto spawned = support::Process::spawn({.argv = std::move(argv)});
  ASSERT_TRUE(spawned.has_value()) << spawned.error().message;
  process_ = *std::move(spawned);
  ASSERT_TRUE(support::wait_until(
      [&] {
        return (port_ = support::serving_port(process_->error_output())) != 0 ||
               !process_->running();
      },
      "the exporter to serve"));
  ASSERT_NE(port_, 0) << process_->error_output();
}

std::string RunningExporter::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

http::ClientResponse RunningExporter::get(const std::string& path) const {
  return support::http_get(url(path));
}

std::string RunningExporter::value(const std::string& series) const {
  const std::string text = "\n" + metrics();
  const auto at = text.find("\n" + series + " ");
  if (at == std::string::npos) return {};
  const auto begin = at + series.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

bool RunningExporter::has(const std::string& series, const std::string& expected) const {
  return support::poll_until([&] { return value(series) == expected; });
}

bool RunningExporter::says(const std::string& text) const {
  return support::poll_until([&] { return process_->error_output().contains(text); });
}

std::string xid_series(int code) {
  return "gpuward_xid_errors_total{gpu=\"0\",uuid=\"GPU-0\",pci_bus_id=\"0000:4e:00\",xid=\"" +
         std::to_string(code) + "\"}";
}

std::string xid_line(int code, const std::string& pci) {
  return "NVRM: Xid (PCI:" + pci + "): " + std::to_string(code) +
         ", pid='<unknown>', name=<unknown>, text of the driver";
}

std::filesystem::path exporter_binary() {
  return std::filesystem::path(GPUWARD_BIN_DIR) / "gpuward-exporter";
}

}  // namespace gpuward::exporter
