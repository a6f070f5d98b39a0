#include "tests/fakes/nvml/event_sets.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "tests/fakes/nvml/machine.h"

struct FakeEventSet {
  std::mutex mutex;
  std::set<int> gpus;
  std::string path;
  std::streamoff position = 0;
  int watch = -1;
};

namespace gpuward::fake_nvml {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr unsigned long long kXidCriticalError = 0x8;

std::atomic<int> live = 0;

std::string xids_path() {
  const Value named = value_of("xids");
  if (named.error == kFakeSuccess) return named.text;
  const char* const scenario = std::getenv("GPUWARD_FAKE_NVML");
  return scenario == nullptr ? "" : std::string(scenario) + ".xids";
}

void start_watching(FakeEventSet& set) {
  if (set.watch >= 0) return;
  set.path = xids_path();
  const int file = ::open(set.path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) {
    set.position = ::lseek(file, 0, SEEK_END);
    ::close(file);
  }
  set.watch = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ::inotify_add_watch(set.watch, set.path.c_str(), IN_MODIFY);
}

// The next whole line of the file about a registered GPU.
bool take_event(FakeEventSet& set, FakeEventData* data) {
  std::ifstream file(set.path);
  file.seekg(set.position);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    set.position = file.tellg();
    std::istringstream words(line);
    int gpu = -1;
    unsigned long long code = 0;
    if (!(words >> gpu >> code) || !set.gpus.contains(gpu)) continue;
    unsigned gpu_instance = kFakeNoInstance, compute_instance = kFakeNoInstance;
    if (!(words >> gpu_instance)) gpu_instance = kFakeNoInstance;
    if (!(words >> compute_instance)) compute_instance = kFakeNoInstance;
    *data = {handle_of(gpu), kXidCriticalError, code, gpu_instance, compute_instance};
    return true;
  }
  return false;
}

void wait_for_change(int watch, milliseconds limit) {
  pollfd ready{watch, POLLIN, 0};
  // Also waits in steps, in case another file replaces the watched one; the steps are long, because
  // benchmarks measure their cost.
  ::poll(&ready, 1, static_cast<int>(std::min(limit, milliseconds(5'000)).count()));
  std::array<char, 4096> ignored;
  while (::read(watch, ignored.data(), ignored.size()) > 0) {
  }
}

}  // namespace

int live_event_sets() { return live; }

FAKE_NVML_API int nvmlEventSetCreate(FakeEventSet** set) {
  if (const int error = enter("nvmlEventSetCreate", kNoGpu)) return error;
  *set = new FakeEventSet;
  ++live;
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlEventSetFree(FakeEventSet* set) {
  if (const int error = enter("nvmlEventSetFree", kNoGpu)) return error;
  if (set->watch >= 0) ::close(set->watch);
  delete set;
  --live;
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceGetSupportedEventTypes(FakeDevice* device, unsigned long long* types) {
  if (const int error = enter("nvmlDeviceGetSupportedEventTypes", device)) return error;
  long long given = 0;
  *types = number_of(device, "event_types", &given) == kFakeSuccess
               ? static_cast<unsigned long long>(given)
               : kXidCriticalError;
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlDeviceRegisterEvents(FakeDevice* device, unsigned long long types,
                                           FakeEventSet* set) {
  if (const int error = enter("nvmlDeviceRegisterEvents", device)) return error;
  const std::lock_guard lock(set->mutex);
  start_watching(*set);
  if ((types & kXidCriticalError) != 0) set->gpus.insert(device->gpu);
  return kFakeSuccess;
}

FAKE_NVML_API int nvmlEventSetWait_v2(FakeEventSet* set, FakeEventData* data, unsigned limit_ms) {
  if (const int error = enter("nvmlEventSetWait_v2", kNoGpu)) return error;
  const auto deadline = steady_clock::now() + milliseconds(limit_ms);
  while (true) {
    {
      const std::lock_guard lock(set->mutex);
      if (take_event(*set, data)) return kFakeSuccess;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return kFakeTimeout;
    wait_for_change(set->watch, left);
  }
}

}  // namespace gpuward::fake_nvml
