#include "exporter/watch/kernel_log_scan.h"

#include <vector>

#include "exporter/watch/kernel_log_watcher.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kLongestScan{2};

}  // namespace

Status scan_kernel_log(KernelLogSource& source, const Policy& policy, Clock& clock, Store& store) {
  const std::vector<Gpu> gpus = store.gpus();
  const auto deadline = clock.steady() + kLongestScan;
  do {
    LogBatch batch;
    const auto sink = [&](const LogRecord& record) {
      add_record(record, {policy, gpus, clock.wall()}, batch);
    };
    const auto report = source.read(sink, std::chrono::milliseconds(0), {});
    store.apply(batch);
    if (!report) return std::unexpected(report.error());
    if (report->records == 0) return {};
  } while (clock.steady() < deadline);
  return {};
}

}  // namespace gpuward::exporter
